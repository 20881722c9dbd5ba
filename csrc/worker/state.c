/* state.c: a worker's Lua state; the only file of dpt that calls Lua's C interface.
 *
 * Invariant: Lua comes from the process that loaded libdpt, which runs LuaJIT. The library does not
 * link LuaJIT, so that there is never a second copy whose states could be mixed up with the first
 * one's. So its functions are weak symbols here, and missing ones are reported as an error. The
 * thread enters the state only through lua_cpcall: an error, including lack of memory, ends the
 * worker and not the process.
 */
#include "worker/worker.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#pragma weak luaL_newstate
#pragma weak luaL_openlibs
#pragma weak luaL_loadbuffer
#pragma weak lua_call
#pragma weak lua_close
#pragma weak lua_cpcall
#pragma weak lua_error
#pragma weak lua_pushinteger
#pragma weak lua_tolstring
#pragma weak lua_touserdata

static int state_run(lua_State *L) {
  dpt__worker *worker = lua_touserdata(L, 1);
  luaL_openlibs(L);
  if (luaL_loadbuffer(L, worker->workers->boot, worker->workers->boot_size, "=worker"))
    return lua_error(L);
  lua_pushinteger(L, worker->number);
  lua_call(L, 1, 0);
  return 0;
}

void *dpt__worker_run(void *arg) {
  dpt__worker *worker = arg;
  dpt__worker_begin(worker);
  lua_State *L = luaL_newstate ? luaL_newstate() : NULL;
  if (!L) {
    dpt__worker_end(worker,
                    luaL_newstate ? "no host memory for a Lua state" : "no LuaJIT in this process");
  } else {
    const char *why = lua_cpcall(L, state_run, worker) ? lua_tolstring(L, -1, NULL) : NULL;
    dpt__worker_end(worker, why);
    lua_close(L);
  }
  dpt__worker_gone(worker);
  return NULL;
}
