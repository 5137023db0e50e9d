// Makes Forebay's forwarder lag right after it woke an Envoy thread and let go of its lock: a
// preemption at the worst moment, every time. Preloaded into Envoy by tests of its teardown.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static __thread int woke_somebody;

static int isForwarder(void) {
  char name[16] = "";
  return pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
         strcmp(name, "forebay:forward") == 0;
}

// Envoy's dispatchers are woken through an eventfd, under libevent's lock; which of the two calls
// is used differs between Envoys.
int eventfd_write(int fd, eventfd_t value) {
  static int (*real)(int, eventfd_t);
  if (real == NULL) {
    real = (int (*)(int, eventfd_t))dlsym(RTLD_NEXT, "eventfd_write");
  }
  woke_somebody = isForwarder();
  return real(fd, value);
}

ssize_t write(int fd, const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t);
  if (real == NULL) {
    real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  }
  if (size == sizeof(eventfd_t) && isForwarder()) {
    woke_somebody = 1;
  }
  return real(fd, data, size);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static int (*real)(pthread_mutex_t*);
  if (real == NULL) {
    real = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  }
  const int result = real(mutex);
  if (woke_somebody) {
    woke_somebody = 0;
    const char* const lag = getenv("LAG_MICROSECONDS");
    usleep(lag != NULL ? (useconds_t)atoi(lag) : 0);
  }
  return result;
}
