/* The graphics cards that the fake NVIDIA libraries and the fake CUDA plugin say this machine has.
 *
 * FAKE_GPUS lists them, separated by ';', each as key=value pairs separated by '|':
 *   name=NVIDIA T4|total=15360|reserved=440|used=0|proc=77:python3:1000|lost=1|mig=1
 *   busy=37|clock=1200|max_clock=1980|limits=0x20|corrected=3|nvlink=5
 * Memory is in MiB; `total` is the card's, `reserved` the driver's own part of it, `used` what
 * programs have. proc may come several times; a process without a name is not visible, one with
 * "?" for its memory has it unknown. `busy` is in percent (without it by whether memory is in use),
 * clocks are in MHz, `limits` is NVML's mask of what holds them back, `corrected` counts memory
 * errors, `nvlink` is the MiB that each further question finds sent. Without FAKE_GPUS there are an
 * H100 and an A100, idle. */
#ifndef FLATOUT_FAKE_GPUS_H_
#define FLATOUT_FAKE_GPUS_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFakeMostCards = 8, kFakeMostProcesses = 40 };

struct FakeProcess {
  unsigned pid;
  char name[64];
  long long mib; /* -1: unknown */
};

struct FakeCard {
  int index;
  char name[96];
  long long total, reserved, used; /* bytes */
  int lost, mig;
  int busy, clock, max_clock, corrected, nvlink; /* -1: as usual; nvlink -1: has none */
  unsigned long long limits;
  int processes;
  struct FakeProcess process[kFakeMostProcesses];
};

static int FakeCards(struct FakeCard* cards) {
  const char* text = getenv("FAKE_GPUS");
  if (text == NULL || *text == 0) {
    text =
        "name=NVIDIA H100 80GB HBM3|total=81559|reserved=551;"
        "name=NVIDIA A100-SXM4-40GB|total=40960|reserved=622";
  }
  char* copy = strdup(text);
  char *save_card = NULL, *save_pair = NULL;
  int count = 0;
  for (char* card = strtok_r(copy, ";", &save_card); card != NULL && count < kFakeMostCards;
       card = strtok_r(NULL, ";", &save_card)) {
    struct FakeCard* c = &cards[count];
    memset(c, 0, sizeof(*c));
    c->index = count++;
    c->busy = c->clock = c->max_clock = c->nvlink = -1;
    for (char* pair = strtok_r(card, "|", &save_pair); pair != NULL;
         pair = strtok_r(NULL, "|", &save_pair)) {
      char* value = strchr(pair, '=');
      if (value == NULL) continue;
      *value++ = 0;
      if (strcmp(pair, "name") == 0) snprintf(c->name, sizeof(c->name), "%s", value);
      if (strcmp(pair, "total") == 0) c->total = atoll(value) << 20;
      if (strcmp(pair, "reserved") == 0) c->reserved = atoll(value) << 20;
      if (strcmp(pair, "used") == 0) c->used = atoll(value) << 20;
      if (strcmp(pair, "lost") == 0) c->lost = atoi(value);
      if (strcmp(pair, "mig") == 0) c->mig = atoi(value);
      if (strcmp(pair, "busy") == 0) c->busy = atoi(value);
      if (strcmp(pair, "clock") == 0) c->clock = atoi(value);
      if (strcmp(pair, "max_clock") == 0) c->max_clock = atoi(value);
      if (strcmp(pair, "corrected") == 0) c->corrected = atoi(value);
      if (strcmp(pair, "nvlink") == 0) c->nvlink = atoi(value);
      if (strcmp(pair, "limits") == 0) c->limits = strtoull(value, NULL, 0);
      if (strcmp(pair, "proc") == 0 && c->processes < kFakeMostProcesses) {
        struct FakeProcess* p = &c->process[c->processes++];
        char* name = strchr(value, ':');
        if (name == NULL) continue;
        *name++ = 0;
        char* mib = strchr(name, ':');
        if (mib == NULL) continue;
        *mib++ = 0;
        p->pid = (unsigned)atoi(value);
        snprintf(p->name, sizeof(p->name), "%s", name);
        p->mib = *mib == '?' ? -1 : atoll(mib);
      }
    }
  }
  free(copy);
  return count;
}

/* What CUDA numbers the cards: CUDA_VISIBLE_DEVICES picks and orders them. Returns how many. */
static int FakeCudaOrder(int cards, int* order) {
  const char* text = getenv("CUDA_VISIBLE_DEVICES");
  int count = 0;
  if (text == NULL) {
    for (; count < cards; ++count) order[count] = count;
    return count;
  }
  char *copy = strdup(text), *save = NULL;
  for (char* item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
    const int card = atoi(item);
    if (card < 0 || card >= cards || count == kFakeMostCards) break;
    order[count++] = card;
  }
  free(copy);
  return count;
}

__attribute__((unused)) static void FakeUuid(int card, unsigned char* bytes) {
  for (int i = 0; i < 16; ++i) bytes[i] = (unsigned char)(16 * (card + 1) + i);
}

#endif /* FLATOUT_FAKE_GPUS_H_ */
