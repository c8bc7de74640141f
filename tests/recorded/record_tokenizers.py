"""Records tokenizers.json: what Hugging Face's tokenizers and tiktoken make of a few texts.

The vocabulary is a small one, made here from a few sentences; it is recorded in both formats."""

import base64
import inspect
import json
import sys

import tiktoken
import tiktoken_ext.openai_public as public
import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from common import write

CORPUS = [
    "The quick brown fox jumps over the lazy dog. The dog doesn't mind; it's asleep.",
    "She'll say they've been there, and we're sure I'd agree: there's nothing there.",
    "In 1999, 2000 and 2001 the theory of the other brother was worth 12345 pounds.",
    "Über die Brücke gehen süße Grüße; déjà vu, naïve café, piñata.",
    "日本語の文章と中文的句子。 Привет, мир! Γειά σου κόσμε.",
    "for (int i = 0; i < n; ++i) { total += values[i]; }\n\n    return total;\n",
    "hello hello hello world world   spaces    and\ttabs\t\t and\r\nlines\n\n\n",
] * 3

TEXTS = [
    "",
    " ",
    "a",
    "The quick brown fox",
    "the other brother's theory: there, there!",
    "It's they're we've I'll I'd I'm don't CAN'T IT'S we'Re",
    "  leading and trailing  ",
    "tabs\t\tand  \n newlines\r\n\r\n \n x",
    "2001: 1 22 333 4444 55555 666666 ½ ² Ⅷ ٣٤ ",
    "x=1;y+=2!!! ... --- ((()))[]{} #$%^&*~`",
    "日本語と中文 and 한국어, Привет мир, Γειά",
    "é é ñ ñ Ünïcödé İ ſ K ’s",
    "🙂🙃 👩‍👩‍👧‍👦 🇩🇪 ✨",
    "nbsp em  zwsp​ ideographic　 line\u2028 nel\u0085 end",
    "a" * 300,
    "ab" * 200 + " " + "the" * 100,
    "hello" + " " * 60 + "world",
    "CamelCase snake_case HTTPServer XMLHttpRequest iPhone ABCdef ÀÉî",
    "\x00\x01 control \x7f",
    "<|endoftext|> is text here",
    "path/to/file.txt\n/usr/bin",
    "\n\n\n\n",
    "end with newline\n",
    "end with blanks   ",
]


def main():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=520, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=[], show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    vocab = model["vocab"]
    merges = [m if isinstance(m, list) else m.split(" ") for m in model["merges"]]

    # The letters that stand for bytes, as GPT-2's encoder.py has them.
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            letters[chr(byte)] = byte
        else:
            letters[chr(256 + extra)] = byte
            extra += 1
    ranks = {bytes([byte]): byte for byte in range(256)}
    for left, right in merges:
        token = bytes(letters[c] for c in left + right)
        if token not in ranks:
            ranks[token] = len(ranks)

    def pattern(name):
        """tiktoken's own expression, without fetching the vocabulary that goes with it."""
        source = inspect.getsource(public)
        namespace = dict(public.__dict__, load_tiktoken_bpe=lambda *a, **k: {})
        exec(compile(source, "openai_public", "exec"), namespace)
        namespace["load_tiktoken_bpe"] = lambda *a, **k: {}
        return namespace[name]()["pat_str"]

    encoders = {
        name: tiktoken.Encoding(name, pat_str=pattern(full), mergeable_ranks=ranks,
                                special_tokens={})
        for name, full in (("gpt2", "r50k_base"), ("cl100k", "cl100k_base"),
                           ("o200k", "o200k_base"))
    }
    cases = []
    for text in TEXTS:
        result = {"text": text, "huggingface": tokenizer.encode(text).ids}
        for name, encoder in encoders.items():
            result[name] = encoder.encode_ordinary(text)
        cases.append(result)
    versions = {
        "tokenizers": tokenizers.__version__,
        "tiktoken": tiktoken.__version__,
        "python": ".".join(str(v) for v in sys.version_info[:3]),
    }
    lines = [f"{base64.b64encode(t).decode()} {rank}" for t, rank in ranks.items()]
    write("tokenizers.json", versions, cases,
          vocab=dict(sorted(vocab.items(), key=lambda item: item[1])),
          merges=[" ".join(m) for m in merges],
          ranks="\n".join(lines) + "\n")


main()
