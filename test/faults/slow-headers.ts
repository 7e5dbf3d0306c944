import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import type { FaultReport } from './report.ts'

/** Seconds after which no connection may be left whose request never comes to its end. */
const patience = 15

/**
 * Opens that many connections that send the head of a request a byte a second. Bad are those that are
 * still open after 15 s, and each time that `/health` took a second or more meanwhile.
 */
export async function slowHeaders({ rounds }: { rounds: number }): Promise<FaultReport> {
  const directory = mkdtempSync(join(tmpdir(), 'davit-slow-'))
  const davit = await startDavit({ directory, env: { DAVIT_DATA_DIR: join(directory, 'data') } })
  try {
    const { hostname, port } = new URL(davit.url)
    let open = rounds
    const closed = Promise.withResolvers<void>()
    const socket = {
      data() {},
      error() {},
      close: () => void (--open === 0 && closed.resolve()),
    }
    const connecting = Array.from({ length: rounds }, () =>
      Bun.connect({ hostname, port: Number(port), socket }),
    )
    const sockets = await Promise.all(connecting)
    const begun = performance.now()
    for (const one of sockets) one.write('GET / HTTP/1.1\r\nHost: davit\r\nX-Slow: ')
    const health: number[] = []
    const trickle = setInterval(async () => {
      for (const one of sockets) one.write('a')
      const asked = performance.now()
      const { ok } = await fetch(`${davit.url}/health`)
      health.push(ok ? performance.now() - asked : Infinity)
    }, 1000)
    await Promise.race([closed.promise, Bun.sleep(patience * 1000)])
    clearInterval(trickle)
    const seconds = (performance.now() - begun) / 1000
    const slow = health.filter((milliseconds) => milliseconds >= 1000).length
    const slowest = Math.max(...health)
    for (const one of sockets) one.terminate()
    return {
      what: 'connections that send a request a byte a second',
      unit: `left open after ${patience} s, or health answers over 1 s`,
      rounds,
      bad: open + slow,
      figures: `the last closed after ${seconds.toFixed(0)} s, health in ${slowest.toFixed(0)} ms at most`,
    }
  } finally {
    await davit.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
