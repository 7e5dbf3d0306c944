import { dlopen, ptr } from 'bun:ffi'

/** A socket as systemd has one, for services to say how they are: what came until now, in order. */
export function listenForStates(path: string) {
  const c = dlopen('libc.so.6', {
    socket: { args: ['int', 'int', 'int'], returns: 'int' },
    bind: { args: ['int', 'ptr', 'uint32_t'], returns: 'int' },
    recv: { args: ['int', 'ptr', 'usize', 'int'], returns: 'i64' },
    close: { args: ['int'], returns: 'int' },
  }).symbols
  const [unix, datagram, dontWait] = [1, 2, 0x40]
  const descriptor = c.socket(unix, datagram, 0)
  const address = Buffer.concat([Buffer.from([unix, 0]), Buffer.from(path)])
  if (c.bind(descriptor, ptr(address), address.length) !== 0) throw new Error(`no socket ${path}`)
  const states: string[] = []
  return {
    states() {
      const buffer = Buffer.alloc(4096)
      for (;;) {
        const size = Number(c.recv(descriptor, ptr(buffer), buffer.length, dontWait))
        if (size <= 0) return states
        states.push(buffer.toString('utf8', 0, size))
      }
    },
    close: () => c.close(descriptor),
  }
}
