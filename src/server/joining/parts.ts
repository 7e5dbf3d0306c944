import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import type { JoinCheck } from '../../servers/join-check.ts'
import { createUser, hasUser, mayUseDocker } from '../accounts.ts'
import { copied } from '../install-steps.ts'
import { user } from '../layout.ts'
import type { Layout } from '../layout.ts'
import { run, tryRun } from '../run.ts'
import { reload } from '../service.ts'
import { stepsLeft } from '../steps.ts'
import type { Step } from '../steps.ts'
import { executable, noUser } from '../uninstall.ts'
import { firewallRemoval, firewallScript, firewallUnit } from './firewall.ts'
import type { Sshd } from './judge.ts'
import { readRecord, recordText, removeEmpty, removeRecord, writeRecord } from './record.ts'
import type { Record } from './record.ts'

export type JoinPlan = Sshd & {
  layout: Layout
  /** Of this server, among the servers. */
  address: string
  check: JoinCheck
  record: Record
  /** The executable that runs, and the version of the installed one. */
  source: string
  installed: string | null
  /** Throws unless Davit reaches this server. */
  probe: () => Promise<void>
  /** Throws unless this server has joined. */
  join: () => Promise<void>
}

/** In order of dependency. What fails undoes those before it. */
export const joinSteps = (plan: JoinPlan): Step[] => [
  noted(plan),
  copied(plan),
  account(plan),
  key(plan),
  firewall(plan),
  {
    does: 'Check that Davit reaches this server',
    isDone: () => plan.check.hasJoined,
    act: plan.probe,
  },
  {
    does: `Join as ${plan.check.name}`,
    parts: ['Davit logs in by ssh with its key', 'Docker becomes a worker in Davit’s swarm'],
    isDone: () => plan.check.hasJoined,
    act: plan.join,
  },
]

/** What joinSteps did, in reverse. */
export const leaveSteps = (layout: Layout, record: Record): Step[] => [
  removal(layout.firewallUnit, () => removeFirewall(layout)),
  removal(layout.keys, async () => removeKey(layout)),
  ...(record.hasMadeUser ? [noUser('--force')] : []), // Davit's connection ends within seconds
  ...(record.hasCopiedExecutable ? [executable(layout)] : []),
  removal(layout.joined, async () => removeRecord(layout)), // last: it is needed to finish an interrupted run
]

const removal = (path: string, act: Step['act']): Step => ({
  does: `Remove ${path}${path.endsWith('.service') ? ' with its rules' : ''}`,
  isDone: () => !existsSync(path),
  act,
})

function noted({ layout, record }: JoinPlan): Step {
  const before = readRecord(layout)
  return {
    does: `Write ${layout.joined}, which lists all of this`,
    isDone: () => before !== null && recordText(before) === recordText(record),
    act: async () => writeRecord(layout, record),
    /** Kept while something that it lists couldn't be undone. */
    async undo() {
      const left = await stepsLeft(leaveSteps(layout, record).slice(0, -1))
      if (left.length === 0) removeRecord(layout)
    },
  }
}

const account = ({ layout, record }: JoinPlan): Step => ({
  does: `Create the user ${user}, who may use Docker`,
  isDone: () => hasUser() && mayUseDocker() && existsSync(layout.keys),
  act: (work) => createUser(layout, { ...work, hasShell: true }),
  ...(record.hasMadeUser && { undo: noUser('--force').act }),
})

/** Only Docker can be used with it, and only from Davit's server. */
function key({ layout, check: { publicKey, from } }: JoinPlan): Step {
  const line = `from="${from}",restrict,command="docker system dial-stdio" ${publicKey}\n`
  return {
    does: `Write ${layout.keys}: Davit’s key, from ${from}, for Docker only`,
    isDone: () => existsSync(layout.keys) && readFileSync(layout.keys, 'utf8') === line,
    async act() {
      const folder = dirname(layout.keys)
      const isNew = !existsSync(layout.home)
      mkdirSync(folder, { recursive: true })
      writeFileAtomically(layout.keys, line)
      chmodSync(layout.keys, 0o644) // sshd reads it as that user, who can't change it
      for (const path of isNew ? [layout.home, folder] : [folder]) chmodSync(path, 0o755)
    },
    undo: async () => removeKey(layout),
  }
}

/** A home in which an earlier Davit left its data stays. */
function removeKey({ home, keys, members }: Layout) {
  for (const file of [keys, members]) rmSync(file, { force: true })
  for (const folder of [dirname(keys), home]) removeEmpty(folder)
}

function firewall({ layout, address, sshPort, check: { cluster, from } }: JoinPlan): Step {
  const files = [
    [layout.firewall, firewallScript(layout, { address, cluster, from, sshPort })],
    [layout.firewallUnit, firewallUnit(layout)],
  ] as const
  return {
    does: 'Start a firewall, now and at each boot',
    parts: [
      `Ports 20000 to 29999 of ${address}: members of the swarm only`,
      'Port 4789 (UDP): members only; port 7946: members also',
      `Port ${sshPort}: also Davit, from ${from}`,
    ],
    isDone: () =>
      files.every(([path, text]) => existsSync(path) && readFileSync(path, 'utf8') === text),
    async act(work) {
      for (const [path, text] of files) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
        writeFileAtomically(path, text)
        chmodSync(path, 0o644)
      }
      await reload(work)
      const todo = 'See its log: journalctl -u davit-firewall.'
      await run({ ...work, todo, argv: ['systemctl', 'enable', unitName] })
      await run({ ...work, todo, argv: ['systemctl', 'restart', unitName] })
    },
    undo: () => removeFirewall(layout),
  }
}

const unitName = 'davit-firewall.service'

async function removeFirewall({ firewall: script, firewallUnit: unit }: Layout) {
  await tryRun({ argv: ['systemctl', 'disable', '--now', unitName] })
  for (const rule of firewallRemoval) await tryRun({ argv: ['iptables', ...rule] })
  rmSync(unit, { force: true })
  rmSync(dirname(script), { recursive: true, force: true })
  await tryRun({ argv: ['systemctl', 'daemon-reload'] })
}
