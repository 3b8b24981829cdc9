// With the address sanitizer, libraries stay loaded. Unloading a graphics driver would remove the only
// pointers to memory that it never frees, and the names of its functions: a leak without a source would be
// reported.
extern "C" int dlclose(void* /*library*/) { return 0; }
