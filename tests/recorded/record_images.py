"""Records images.json: picture files and what TensorFlow and Pillow make of them, tf.image's resizes
and colour changes.

Pillow writes the kinds of file that TensorFlow cannot (CMYK, EXIF, palettes, GIF, WebP); what is
expected of a file comes from TensorFlow where it reads that kind, else from Pillow.
"""

import base64
import io
import json
import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import PIL
import tensorflow as tf
from PIL import Image, ImageOps

from common import FOLDER, tensor


def photo(height, width, seed, channels=3):
    """Smooth shapes, edges and noise, as photos have them: u8."""
    random = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = []
    for c in range(channels):
        plane = 110 + 60 * np.sin(x / (5 + 3 * c) + c) * np.cos(y / (7 - c))
        plane += 50 * ((x - width / 2) ** 2 + (y - height / 3) ** 2 < (height / 3) ** 2)
        plane -= 40 * (x + 2 * y > width)
        planes.append(plane + random.randn(height, width) * 4)
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


FILES = {}
DECODES = []


def file(name, data):
    FILES[name] = base64.b64encode(data).decode()
    return data


def decode(name, value, channels=0, dtype="u8", alpha="keep", by="tensorflow"):
    DECODES.append({"file": name, "channels": channels, "dtype": dtype, "alpha": alpha, "by": by,
                    "expected": tensor(np.asarray(value))})


def saved(image, format, **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def decode_jpeg(data, channels):
    """By the exact inverse DCT; TensorFlow's default is the fast one, a few levels off."""
    return tf.io.decode_jpeg(data, channels=channels, dct_method="INTEGER_ACCURATE")


def jpegs():
    rgb = photo(40, 56, 1)
    for name, options in {"jpeg_420": {}, "jpeg_444": {"chroma_downsampling": False},
                          "jpeg_progressive": {"progressive": True, "quality": 80}}.items():
        data = file(name, tf.io.encode_jpeg(rgb, **options).numpy())
        decode(name, decode_jpeg(data, 3), 3)
    data = base64.b64decode(FILES["jpeg_420"])
    decode("jpeg_420", decode_jpeg(data, 1), 1)
    file("jpeg_cut", data[: len(data) * 2 // 3])
    grey = file("jpeg_grey", tf.io.encode_jpeg(rgb[:, :, :1]).numpy())
    decode("jpeg_grey", decode_jpeg(grey, 0), 0)
    decode("jpeg_grey", decode_jpeg(grey, 3), 3)
    cmyk = file("jpeg_cmyk", saved(Image.fromarray(photo(8, 8, 2, 4), "CMYK"), "JPEG", quality=95))
    decode("jpeg_cmyk", decode_jpeg(cmyk, 3), 3)


def oriented():
    """As people see it: red left, green bottom, else white; 8 rows of 16."""
    seen = np.full((8, 16, 3), 255, np.uint8)
    seen[:, :4] = (255, 0, 0)
    seen[6:] = (0, 255, 0)
    turn = {1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1],
            4: lambda a: a[::-1], 5: lambda a: a.transpose(1, 0, 2),
            6: lambda a: np.rot90(a, 1), 7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
            8: lambda a: np.rot90(a, -1)}
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = Image.fromarray(np.ascontiguousarray(turn[orientation](seen)))
        for format, options in {"PNG": {}, "JPEG": {"quality": 100, "subsampling": 0},
                                "WEBP": {"lossless": True}}.items():
            data = file(f"exif_{orientation}_{format.lower()}",
                        saved(stored, format, exif=exif, **options))
            again = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
            assert again.shape == seen.shape and np.abs(again.astype(int) - seen).max() < 12


def pngs():
    rgb = photo(8, 8, 3)
    for name, value in {"png_rgb": rgb, "png_grey": rgb[:, :, :1],
                        "png_rgba": photo(8, 8, 4, 4), "png_grey_alpha": photo(8, 8, 5, 2)}.items():
        data = file(name, tf.io.encode_png(value).numpy())
        decode(name, tf.io.decode_png(data), 0)
    data = base64.b64decode(FILES["png_rgba"])
    decode("png_rgba", tf.io.decode_png(data, channels=3), 3, alpha="drop")
    random = np.random.RandomState(6)
    for name, channels in {"png16_grey": 1, "png16_rgb": 3, "png16_rgba": 4}.items():
        value = random.randint(0, 65536, (8, 8, channels)).astype(np.uint16)
        data = file(name, tf.io.encode_png(value).numpy())
        decode(name, tf.io.decode_png(data, dtype=tf.uint16), 0, "u16")
    palette = Image.fromarray(rgb).quantize(16)
    data = file("png_palette", saved(palette, "PNG"))
    decode("png_palette", tf.io.decode_png(data, channels=3), 3)
    transparent = bytes([0, 128] + [255] * 14)
    data = file("png_palette_trns", saved(palette, "PNG", transparency=transparent))
    decode("png_palette_trns", tf.io.decode_png(data, channels=4), 4)
    grey = Image.fromarray(rgb[:, :, 0])
    decode("png_1bit", np.asarray(grey.convert("1"), np.uint8)[:, :, None] * 255, 0, by="pillow")
    file("png_1bit", saved(grey.convert("1"), "PNG"))


def gifs():
    frames = [Image.fromarray(photo(9, 11, seed)).quantize(32) for seed in (7, 8)]
    data = file("gif_animated", saved(frames[0], "GIF", save_all=True, append_images=frames[1:],
                                      duration=50))
    decode("gif_animated", tf.io.decode_gif(data)[0], 3)
    data = file("gif_interlaced", saved(frames[1], "GIF", interlace=1))
    decode("gif_interlaced", np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), 3,
           by="pillow")
    data = file("gif_transparent", saved(frames[0], "GIF", transparency=0))
    decode("gif_transparent", np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")), 4,
           by="pillow")


def webps():
    rgb, rgba = Image.fromarray(photo(20, 24, 9)), Image.fromarray(photo(20, 24, 10, 4))
    for name, image, options in (
            ("webp_lossy", rgb, {"quality": 80}), ("webp_lossless", rgb, {"lossless": True}),
            ("webp_alpha", rgba, {"lossless": True, "exact": True}),
            ("webp_animated", rgb, {"lossless": True, "save_all": True,
                                    "append_images": [Image.fromarray(photo(20, 24, 11))]})):
        data = file(name, saved(image, "WEBP", **options))
        mode = "RGBA" if name == "webp_alpha" else "RGB"
        decode(name, np.asarray(Image.open(io.BytesIO(data)).convert(mode)), len(mode), by="pillow")


def resizes():
    cases = []
    inputs = {"rgb": photo(13, 17, 12), "grey": photo(9, 6, 13, 1),
              "float": np.round(np.random.RandomState(14).rand(7, 10, 2), 3).astype(np.float32)}
    for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                   "mitchellcubic"):
        for antialias in (False, True):
            for key, size in (("rgb", (5, 6)), ("rgb", (20, 8)), ("grey", (14, 15)),
                              ("float", (7, 4)), ("float", (1, 1))):
                value = tf.image.resize(inputs[key], size, method, antialias=antialias)
                cases.append({"input": key, "size": size, "method": method,
                              "antialias": antialias,
                              "expected": tensor(np.round(value.numpy().astype(np.float64), 5))})
    return {"inputs": {key: tensor(value) for key, value in inputs.items()}, "cases": cases}


def colors():
    cases = []
    image = photo(6, 7, 15)
    wide = (image.astype(np.uint16) * 257)
    floats = (image / 255).astype(np.float32)
    for key, value in (("u8", image), ("u16", wide), ("f32", floats)):
        for kind, function, amount in (
                ("brightness", tf.image.adjust_brightness, 0.25),
                ("brightness", tf.image.adjust_brightness, -0.3),
                ("contrast", tf.image.adjust_contrast, 1.7),
                ("contrast", tf.image.adjust_contrast, 0.4),
                ("saturation", tf.image.adjust_saturation, 2.0),
                ("saturation", tf.image.adjust_saturation, 0.3),
                ("hue", tf.image.adjust_hue, 0.2), ("hue", tf.image.adjust_hue, -0.4)):
            cases.append({"input": key, "kind": kind, "amount": amount,
                          "expected": tensor(function(value, amount).numpy())})
        cases.append({"input": key, "kind": "grayscale", "amount": 0,
                      "expected": tensor(tf.image.rgb_to_grayscale(value).numpy())})
    return {"inputs": {"u8": tensor(image), "u16": tensor(wide), "f32": tensor(floats)},
            "cases": cases}


jpegs()
oriented()
pngs()
gifs()
webps()
resize = resizes()
color = colors()


def lines(items):
    return "[\n" + ",\n".join(json.dumps(i, separators=(",", ":")) for i in items) + "\n]"


with open(os.path.join(FOLDER, "images.json"), "w") as out:
    out.write("{\n")
    out.write(f'"from": "tensorflow {tf.__version__}, pillow {PIL.__version__}",\n')
    names = ",\n".join(f'"{name}":"{data}"' for name, data in FILES.items())
    out.write('"files": {\n' + names + "\n},\n")
    out.write('"decodes": ' + lines(DECODES) + ",\n")
    out.write('"resize_inputs": ' + json.dumps(resize["inputs"], separators=(",", ":")) + ",\n")
    out.write('"resizes": ' + lines(resize["cases"]) + ",\n")
    out.write('"color_inputs": ' + json.dumps(color["inputs"], separators=(",", ":")) + ",\n")
    out.write('"colors": ' + lines(color["cases"]) + "\n}\n")
