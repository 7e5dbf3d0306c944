import { dlopen, ptr } from 'bun:ffi'

const [unixFamily, datagram, closeOnExec] = [1, 2, 0x80000]

/**
 * Gives a function that sends states to systemd (`READY=1`, see sd_notify): by the C library, because
 * the runtime has no datagram sockets of this kind. Throws where there is no C library that it knows.
 */
export function connectNotify(path: string): (state: string) => void {
  const { socket, sendto } = openLibrary()
  const descriptor = socket(unixFamily, datagram | closeOnExec, 0)
  const address = Buffer.concat([
    new Uint8Array(new Uint16Array([unixFamily]).buffer),
    Buffer.from(path.replace(/^@/, '\0')), // an address that is no file
  ])
  return (state) => {
    const message = Buffer.from(state)
    // what can't be delivered is lost: systemd then does what it does with a process that is silent
    sendto(descriptor, ptr(message), message.length, 0, ptr(address), address.length)
  }
}

function openLibrary() {
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  for (const name of ['libc.so.6', `libc.musl-${architecture}.so.1`]) {
    try {
      return dlopen(name, {
        socket: { args: ['int', 'int', 'int'], returns: 'int' },
        sendto: { args: ['int', 'ptr', 'usize', 'int', 'ptr', 'uint32_t'], returns: 'i64' },
      }).symbols
    } catch {
      // the other one
    }
  }
  throw new Error('no C library was found')
}
