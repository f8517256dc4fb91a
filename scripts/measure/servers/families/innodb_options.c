/* sysbench 1.0 never lets its driver read an option file, and has no option for a CA. Loaded in front of the client
   library, this lets each connection read the group `sysbench` of the files that the library knows. */
#define _GNU_SOURCE
#include <dlfcn.h>

enum { READ_DEFAULT_GROUP = 5 }; /* MYSQL_READ_DEFAULT_GROUP of MySQL's and of MariaDB's library */

void *mysql_init(void *handle)
{
    void *(*init)(void *) = (void *(*)(void *))dlsym(RTLD_NEXT, "mysql_init");
    int (*options)(void *, int, const void *) = (int (*)(void *, int, const void *))dlsym(RTLD_NEXT, "mysql_options");
    void *made = init(handle);
    if (made)
        options(made, READ_DEFAULT_GROUP, "sysbench");
    return made;
}
