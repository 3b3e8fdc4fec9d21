/* A driver's library without a device: each function succeeds, unless STANDIN names it and a result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

static int result(const char *name)
{
    const char *asked = getenv("STANDIN");
    size_t length = strlen(name);
    return asked && !strncmp(asked, name, length) && asked[length] == '=' ? atoi(asked + length + 1) : 0;
}

#define PLAIN(name) int name() { return result(#name); }

PLAIN(cuInit)
PLAIN(cuDeviceGet)
PLAIN(cuCtxSynchronize)
PLAIN(cuModuleGetFunction)
PLAIN(cuModuleUnload)
PLAIN(cuFuncSetAttribute)
PLAIN(cuMemsetD8_v2)
PLAIN(cuMemcpyHtoD_v2)
PLAIN(cuMemcpyDtoH_v2)
PLAIN(cuLaunchKernel)

#ifndef OLD
PLAIN(cuMemFree_v2)
#endif

int retained;

int cuDevicePrimaryCtxRetain(void **context)
{
    int found = result("cuDevicePrimaryCtxRetain");
    *context = &retained;
    retained += !found;
    return found;
}

int cuDevicePrimaryCtxRelease_v2()
{
    int found = result("cuDevicePrimaryCtxRelease_v2");
    retained -= !found;
    return found;
}

static __thread int current;

int cuCtxSetCurrent()
{
    current = 1;
    return result("cuCtxSetCurrent");
}

int cuDeviceGetName(char *text, int size, int device)
{
    snprintf(text, size, "stand-in %d", device);
    return result("cuDeviceGetName");
}

int cuModuleLoadDataEx(void **module, const char *text, unsigned count, int *options, void **values)
{
    *module = (void *)text;
    return result("cuModuleLoadDataEx");
}

int cuMemAlloc_v2(address *found, size_t size)
{
    *found = size;
    return result("cuMemAlloc_v2");
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    *unused = *total = atoi(getenv("STANDIN_FREE") ? getenv("STANDIN_FREE") : "1000000000");
    return current ? result("cuMemGetInfo_v2") : 201;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *found)
{
    *found = 2;
    return result("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

int cuDeviceGetAttribute(int *found)
{
    *found = 3;
    return result("cuDeviceGetAttribute");
}

int cuGetErrorString(int code, const char **text)
{
    *text = "the driver's words";
    return code == 999;
}
