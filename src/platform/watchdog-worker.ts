import { writeSync } from 'node:fs'
import { journalLine } from './journal.ts'
import { connectNotify } from './notify-socket.ts'
import type { Watch } from './watchdog.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Watch>) => watch(data)

/** Never returns: this thread does nothing else. */
function watch({ beats, tick, mostMissed, notifySocket }: Watch) {
  const notify = openNotify(notifySocket)
  notify('READY=1')
  let seen = Atomics.load(beats, 0)
  for (let missed = 0; ;) {
    Atomics.wait(beats, 1, 0, tick)
    const now = Atomics.load(beats, 0)
    missed = now === seen ? missed + 1 : 0
    seen = now
    if (missed === 0) notify('WATCHDOG=1')
    if (missed === mostMissed) end((tick * mostMissed) / 1000)
  }

  function end(seconds: number) {
    const message = `Davit stood still for ${Math.round(seconds)} s and ends, to be started again`
    tell('error', message)
    process.kill(process.pid, 'SIGKILL')
    Atomics.wait(beats, 1, 0, 1000)
    process.abort() // the first process of a container can't be killed from inside
  }
}

function openNotify(path: string | null) {
  if (path === null) return () => {}
  try {
    return connectNotify(path)
  } catch (error) {
    tell('warn', `systemd is not told that Davit is alive: ${(error as Error).message}`)
    return () => {}
  }
}

/** Past the streams, which are the business of the loop that may stand still. */
function tell(level: 'warn' | 'error', message: string) {
  try {
    writeSync(2, journalLine(level, message))
  } catch {
    // whoever read our output has ended
  }
}
