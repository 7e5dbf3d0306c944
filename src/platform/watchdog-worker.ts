import { writeSync } from 'node:fs'
import { journalLine } from './journal.ts'
import type { Watch } from './watchdog.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Watch>) => watch(data)

/** Never returns: this thread does nothing else. */
async function watch({ beats, tick, maxMissed, notifySocket }: Watch) {
  const notify = await openNotify(notifySocket)
  notify('READY=1')
  let seen = Atomics.load(beats, 0)
  for (let missed = 0; ;) {
    Atomics.wait(beats, 1, 0, tick)
    const now = Atomics.load(beats, 0)
    missed = now === seen ? missed + 1 : 0
    seen = now
    if (missed === 0) notify('WATCHDOG=1')
    if (missed === maxMissed) end((tick * maxMissed) / 1000)
  }

  function end(seconds: number) {
    const message = `Davit was blocked for ${Math.round(seconds)} s and exits, to be restarted`
    tell('error', message)
    process.kill(process.pid, 'SIGKILL')
    Atomics.wait(beats, 1, 0, 1000)
    process.abort() // the first process of a container can't be killed from inside
  }
}

async function openNotify(path: string | null) {
  if (path === null) return () => {}
  try {
    return connectNotify(await import('bun:ffi'), path)
  } catch (error) {
    tell('warn', `systemd can’t be notified that Davit is alive: ${(error as Error).message}`)
    return () => {}
  }
}

/** Bypasses the streams, which need the event loop that may be blocked. */
function tell(level: 'warn' | 'error', message: string) {
  try {
    writeSync(2, journalLine(level, message))
  } catch {
    // the reader of our output has ended
  }
}

/** Only loaded for systemd. */
type Ffi = typeof import('bun:ffi')

const [unixFamily, datagram, closeOnExec] = [1, 2, 0x80000]

/**
 * Returns a function that sends states to systemd (`READY=1`, see sd_notify), through the C library, because
 * the runtime has no datagram sockets of this kind. Throws when it finds no C library.
 */
function connectNotify(ffi: Ffi, path: string): (state: string) => void {
  const { socket, sendto } = openLibrary(ffi)
  const descriptor = socket(unixFamily, datagram | closeOnExec, 0)
  const address = Buffer.concat([
    new Uint8Array(new Uint16Array([unixFamily]).buffer),
    Buffer.from(path.replace(/^@/, '\0')), // an abstract address, not a file
  ])
  return (state) => {
    const message = Buffer.from(state)
    // a message that can't be delivered is lost: systemd then treats the process as silent
    sendto(descriptor, ffi.ptr(message), message.length, 0, ffi.ptr(address), address.length)
  }
}

function openLibrary({ dlopen }: Ffi) {
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  for (const name of ['libc.so.6', `libc.musl-${architecture}.so.1`]) {
    try {
      return dlopen(name, {
        socket: { args: ['int', 'int', 'int'], returns: 'int' },
        sendto: { args: ['int', 'ptr', 'usize', 'int', 'ptr', 'uint32_t'], returns: 'i64' },
      }).symbols
    } catch {
      // musl
    }
  }
  throw new Error('no C library was found')
}
