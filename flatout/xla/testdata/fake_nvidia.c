/* libcuda.so.1 and libnvidia-ml.so.1 in one, for tests on machines without a GPU: the functions
 * that Flatout asks, answering for the cards of fake_gpus.h. FAKE_CUDA_INIT, FAKE_NVML_INIT   what
 * cuInit and nvmlInit return (0) FAKE_CUDA_VERSION                newest CUDA the driver serves
 * (13010) FAKE_NVML_DENY                   functions with this in their name lack the permission
 * Compiled with FAKE_OLD it is an old driver: newer versions of the functions are not there. */
#include "fake_gpus.h"

static int EnvironmentInt(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value == NULL ? otherwise : atoi(value);
}

static struct FakeCard cards[kFakeMostCards];

/* ---- CUDA driver API ---- */

static int cuda_order[kFakeMostCards];
static int cuda_count;

int cuInit(unsigned flags) {
  (void)flags;
  const int result = EnvironmentInt("FAKE_CUDA_INIT", 0);
  if (result != 0) return result;
  cuda_count = FakeCudaOrder(FakeCards(cards), cuda_order);
  return cuda_count > 0 ? 0 : 100;
}
int cuDriverGetVersion(int* version) {
  *version = EnvironmentInt("FAKE_CUDA_VERSION", 13010);
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = cuda_count;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= cuda_count) return 101;
  *device = cuda_order[ordinal];
  return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, (size_t)size, "%s", cards[device].name);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = (size_t)(cards[device].total - cards[device].reserved);
  return 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
  snprintf(id, (size_t)size, "0000:%02x:00.0", 0x17 + device);
  return 0;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  FakeUuid(device, uuid);
  return 0;
}

/* ---- NVML ---- */

enum {
  kOk = 0,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kTooSmall = 7,
  kLost = 15
};

static int nvml_count;
/* A card that is split has one slice of half its memory, with a uuid of its own. */
static struct FakeCard slice;

static int Denied(const char* function) {
  const char* deny = getenv("FAKE_NVML_DENY");
  return deny != NULL && *deny != 0 && strstr(function, deny) != NULL;
}
#define ANSWER \
  if (Denied(__func__)) return kNoPermission

static int Init(void) {
  const int result = EnvironmentInt("FAKE_NVML_INIT", 0);
  return result;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  ANSWER;
  snprintf(text, size, "580.65.06");
  return kOk;
}
static int Count(unsigned* count) {
  nvml_count = FakeCards(cards);
  *count = (unsigned)nvml_count;
  return kOk;
}
static int GetHandle(unsigned index, void** handle) {
  if (index >= (unsigned)nvml_count) return kInvalidArgument;
  if (cards[index].lost) return kLost;
  *handle = &cards[index];
  return kOk;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  ANSWER;
  snprintf(text, size, "%s", ((struct FakeCard*)device)->name);
  return kOk;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  ANSWER;
  unsigned char u[16];
  FakeUuid(((struct FakeCard*)device)->index, u);
  snprintf(text, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
           device == &slice ? "MIG" : "GPU", u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
           u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  return kOk;
}

struct MemoryV1 {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void* device, struct MemoryV1* memory) {
  ANSWER;
  const struct FakeCard* card = device;
  memory->total = (unsigned long long)card->total;
  memory->free = (unsigned long long)(card->total - card->reserved - card->used);
  memory->used = memory->total - memory->free;
  return kOk;
}

struct ProcessV1 {
  unsigned pid;
  unsigned long long bytes;
};
struct ProcessV2 {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
static unsigned long long ProcessBytes(const struct FakeProcess* process) {
  return process->mib < 0 ? ~0ULL : (unsigned long long)process->mib << 20;
}

#ifdef FAKE_OLD
int nvmlInit(void) { return Init(); }
int nvmlDeviceGetCount(unsigned* count) { return Count(count); }
int nvmlDeviceGetHandleByIndex(unsigned index, void** handle) { return GetHandle(index, handle); }
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, struct ProcessV1* list) {
  const struct FakeCard* card = device;
  if (*count < (unsigned)card->processes) {
    *count = (unsigned)card->processes;
    return kTooSmall;
  }
  *count = (unsigned)card->processes;
  for (int i = 0; i < card->processes; ++i) {
    list[i].pid = card->process[i].pid;
    list[i].bytes = ProcessBytes(&card->process[i]);
  }
  return kOk;
}
#else
int nvmlInit_v2(void) { return Init(); }
int nvmlDeviceGetCount_v2(unsigned* count) {
  ANSWER;
  return Count(count);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  ANSWER;
  return GetHandle(index, handle);
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  ANSWER;
  return cuDriverGetVersion(version);
}
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
int nvmlDeviceGetPciInfo_v3(void* device, struct Pci* pci) {
  ANSWER;
  const struct FakeCard* card = device;
  snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", 0x17 + card->index);
  return kOk;
}
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(void* device, struct MemoryV2* memory) {
  ANSWER;
  const struct FakeCard* card = device;
  if (memory->version != (sizeof(struct MemoryV2) | 2U << 24)) return kInvalidArgument;
  memory->total = (unsigned long long)card->total;
  memory->reserved = (unsigned long long)card->reserved;
  memory->used = (unsigned long long)card->used;
  memory->free = memory->total - memory->reserved - memory->used;
  return kOk;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct ProcessV2* list) {
  ANSWER;
  const struct FakeCard* card = device;
  if (*count < (unsigned)card->processes) {
    *count = (unsigned)card->processes;
    return kTooSmall;
  }
  *count = (unsigned)card->processes;
  for (int i = 0; i < card->processes; ++i) {
    list[i].pid = card->process[i].pid;
    list[i].bytes = ProcessBytes(&card->process[i]);
    list[i].gpu_instance = list[i].compute_instance = 0xFFFFFFFFU;
  }
  return kOk;
}
int nvmlSystemGetProcessName(unsigned pid, char* text, unsigned size) {
  ANSWER;
  for (int c = 0; c < nvml_count; ++c) {
    for (int i = 0; i < cards[c].processes; ++i) {
      const struct FakeProcess* process = &cards[c].process[i];
      if (process->pid != pid || process->name[0] == 0) continue;
      snprintf(text, size, "/usr/bin/%s --flag", process->name);
      return kOk;
    }
  }
  return 6; /* not found */
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpu_and_memory) {
  ANSWER;
  const struct FakeCard* card = device;
  gpu_and_memory[0] = card->busy >= 0 ? (unsigned)card->busy : card->used > 0 ? 37 : 0;
  gpu_and_memory[1] = ((struct FakeCard*)device)->used > 0 ? 12 : 0;
  return kOk;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  ANSWER;
  (void)device;
  *degrees = sensor == 0 ? 41 : 0;
  return kOk;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  ANSWER;
  (void)device;
  *milliwatts = 71500;
  return kOk;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  ANSWER;
  (void)device;
  *milliwatts = 700000;
  return kOk;
}
int nvmlDeviceGetEccMode(void* device, unsigned* current, unsigned* pending) {
  ANSWER;
  (void)device;
  *current = 1;
  *pending = 0;
  return kOk;
}
int nvmlDeviceGetTotalEccErrors(void* device, int kind, int counter, unsigned long long* errors) {
  ANSWER;
  if ((kind != 0 && kind != 1) || counter != 0) return kInvalidArgument;
  const struct FakeCard* card = device;
  *errors = (unsigned long long)(kind == 1 ? card->index : card->corrected);
  return kOk;
}
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* megahertz) {
  ANSWER;
  const struct FakeCard* card = device;
  if (kind != 1 && kind != 2) return kInvalidArgument;
  *megahertz = kind == 2 ? 2619 : card->clock >= 0 ? (unsigned)card->clock : 1755;
  return kOk;
}
int nvmlDeviceGetMaxClockInfo(void* device, int kind, unsigned* megahertz) {
  ANSWER;
  const struct FakeCard* card = device;
  if (kind != 1) return kInvalidArgument;
  *megahertz = card->max_clock >= 0 ? (unsigned)card->max_clock : 1980;
  return kOk;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* mask) {
  ANSWER;
  *mask = ((struct FakeCard*)device)->limits;
  return kOk;
}
int nvmlDeviceGetPcieThroughput(void* device, int direction, unsigned* kilobytes) {
  ANSWER;
  (void)device;
  *kilobytes = direction == 0 ? 250000 : 1500000;
  return kOk;
}
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  unsigned long long value;
};
int nvmlDeviceGetFieldValues(void* device, int count, struct FieldValue* values) {
  ANSWER;
  static unsigned long long kibibytes[kFakeMostCards + 1];
  const struct FakeCard* card = device;
  for (int i = 0; i < count; ++i) {
    const int known = values[i].field == 138 || values[i].field == 139;
    values[i].result = known && card->nvlink >= 0 && values[i].scope == ~0U ? kOk : kNotSupported;
    if (values[i].result != kOk) continue;
    if (values[i].field == 138) kibibytes[card->index] += 1024ULL * (unsigned)card->nvlink;
    values[i].value = kibibytes[card->index];
  }
  return kOk;
}
int nvmlDeviceGetPersistenceMode(void* device, unsigned* mode) {
  ANSWER;
  *mode = ((struct FakeCard*)device)->index == 0;
  return kOk;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  ANSWER;
  *major = strstr(((struct FakeCard*)device)->name, "H100") != NULL ? 9 : 8;
  *minor = 0;
  return kOk;
}
int nvmlDeviceGetComputeMode(void* device, unsigned* mode) {
  ANSWER;
  (void)device;
  *mode = 0;
  return kOk;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  ANSWER;
  if (device == &slice) return kNotSupported;
  *current = *pending = (unsigned)((struct FakeCard*)device)->mig;
  return kOk;
}
int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  ANSWER;
  (void)device;
  *count = 7;
  return kOk;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** handle) {
  ANSWER;
  if (index != 1) return 6; /* not found */
  slice = *(struct FakeCard*)device;
  slice.index = 7;
  slice.total /= 2;
  snprintf(slice.name, sizeof(slice.name), "MIG 3g.40gb");
  *handle = &slice;
  return kOk;
}
#endif
