import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { originAt } from '../../config.ts'
import { isLocked } from '../../db/instance-lock.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { nearAddress } from '../../platform/hosts.ts'
import type { Layout } from '../layout.ts'
import type { Work } from '../run.ts'
import { reload, requestRestart, startService } from '../service.ts'
import { failsFast, removeDropIn } from '../upgrade/unit.ts'
import { configOf } from '../installed.ts'

/*
 * Keeps Davit from starting during a move, on both servers: each start first checks the journals. So
 * whatever process is killed, the start that waits for the end of the move restores the server.
 */

const dropInOf = ({ unit }: Pick<Layout, 'unit'>) => join(`${unit}.d`, 'move.conf')

export const isGuarded = (layout: Pick<Layout, 'unit'>) => existsSync(dropInOf(layout))

/** Stops Davit; its next start waits for the end of the move. */
export async function holdDavit(layout: Layout, work: Work) {
  const dropIn = dropInOf(layout)
  mkdirSync(dirname(dropIn), { recursive: true, mode: 0o755 })
  writeFileAtomically(
    dropIn,
    `# Of a move of Davit to or from another server; removed when that is over.
${failsFast}TimeoutStartSec=infinity
ExecStartPre=+${layout.executable} move --step before-start
`,
  )
  await reload(work)
  await requestRestart(work)
  const { dataDir } = configOf(layout)
  while (isLocked(dataDir)) await sleep(100, undefined, { signal: work.signal })
}

/** Lets Davit start at once again. */
export async function unguardStart(layout: Layout, work: Work) {
  removeGuard(layout)
  await reload(work)
}

/** Takes effect at the next daemon-reload. */
export const removeGuard = (layout: Pick<Layout, 'unit'>) =>
  removeDropIn({ dropIn: dropInOf(layout) })

/** Starts Davit, or waits for a start that is already under way; resolves when it responds. */
export function startDavit(layout: Layout, work: Work) {
  const config = configOf(layout)
  return startService(originAt({ ...config, host: nearAddress(config.host) }), work, 'start')
}
