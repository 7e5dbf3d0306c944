import { lineOf, linesOf, refused, untilSignal } from '../cli/install.ts'
import { askHidden, confirmed, firstLineOf, isTerminal } from '../cli/ask.ts'
import { UsageError, print, readArguments } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { isLoopback } from '../platform/hosts.ts'
import { routeTo } from '../platform/route-to.ts'
import { version } from '../platform/root.ts'
import { hasUser } from '../server/accounts.ts'
import { versionOf } from '../server/install.ts'
import { blocked } from '../server/judge.ts'
import type { Judged } from '../server/judge.ts'
import { judgeAlone, judgeTogether, readEngine, readSshd } from '../server/joining/judge.ts'
import { joinSteps } from '../server/joining/parts.ts'
import type { JoinPlan } from '../server/joining/parts.ts'
import { judgePorts, openPorts } from '../server/joining/ports.ts'
import { probe } from '../server/joining/probe.ts'
import { readRecord } from '../server/joining/record.ts'
import { layoutIn } from '../server/layout.ts'
import { holdSetup } from '../server/locks.ts'
import { stepsLeft, takeSteps } from '../server/steps.ts'
import { joinCheck } from '../servers/join-check.ts'
import { reaches } from '../servers/reach.ts'
import { ok, wrong } from '../doctor/finding.ts'
import { existsSync } from 'node:fs'
import { Server, visitorHeaders } from './call.ts'
import { addressOf } from './servers.ts'

const usage = 'davit join ADDRESS [CODE] [--yes] [--dry-run] [--insecure]'

const options = {
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  insecure: { type: 'boolean', default: false },
} as const

/** Makes this machine a server of a Davit elsewhere, by the code that it showed an admin. */
export const join: Command = async (args) => {
  const given = readArguments(args, { usage, names: ['address'], optional: 'code', options })
  const { yes, 'dry-run': isDry } = given
  if (!Bun.isStandaloneExecutable)
    throw new AppError('invalid', 'This isn’t the executable. Download or build it first.')
  const layout = layoutIn()
  using _hold = isDry || process.getuid?.() !== 0 ? null : holdSetup(layout)
  const url = addressOf(given.address)
  if (url.startsWith('http:') && !given.insecure && !isLoopback(new URL(url).hostname))
    throw new UsageError(
      `${url} has no HTTPS: whoever is between you and it could join in your place, and get into this server. Use https://, or add --insecure on a network that you trust.`,
    )
  const code = given.code ?? (isTerminal() ? await askHidden('Code: ') : firstLineOf(0))

  const [engine, sshd] = [await readEngine(), await readSshd()]
  const alone = await judgeAlone(layout, { engine, sshd })
  print(`Davit ${version}, joining ${url}:`, ...alone.map(lineOf))
  // a dry run doesn't need root
  const isStopped = alone.some(({ blocks, what }) => blocks && !(isDry && what === 'user'))
  if (isStopped || !engine || !sshd) return refused(alone)

  const davit = new Server({ url, token: null })
  const headers = await visitorHeaders(davit)
  function ask(path: string, body: object, seconds = 30) {
    const signal = AbortSignal.timeout(seconds * 1000)
    return davit.json(path, { method: 'POST', headers, body: { code, ...body }, signal })
  }
  async function askCheck(body: object) {
    const answer = joinCheck().safeParse(await ask('/auth/join/check', body))
    if (answer.success) return answer.data
    throw new AppError(
      'bad_gateway',
      `What ${url} responded isn’t what a Davit does. Check the address, and that both are of one version.`,
    )
  }
  const nodeId = engine.state.nodeId || null
  const first = await askCheck({ nodeId })
  const route = await routeTo(first.cluster)
  const silent = await silentPorts(first.cluster)
  const before = readRecord(layout)
  const how = { engine, check: first, route, hasBegun: before !== null, silent }
  // once it has begun, those of apps are among them
  const open = route && !before ? await openPorts(route.address) : []
  const together = [...judgeTogether(how), ...judgePorts({ sshPorts: sshd.sshPorts, open })]
  print(...together.map(lineOf))
  if (!route || together.some(({ blocks }) => blocks)) return refused(together)

  const { address } = route
  let check = first
  const tryPorts = () =>
    probe({ address, sshPort: sshd.sshPort }, async (place) => {
      check = await askCheck({ nodeId, place })
      return check
    })
  const probed = await tryPorts()
  const isMember = engine.state.isMember
  const ports: Judged[] = [
    ...(isMember ? [] : probed.taken).map((port) =>
      blocked('port', `port ${port} is taken here`, 'Stop the program that uses it.'),
    ),
    ...(probed.silent.length === 0
      ? [ok('ports', 'Davit’s server reaches them')]
      : [wrong('ports', `nothing arrived at ${probed.silent.join(', ')}`, openHere)]),
  ]
  print(...ports.map(lineOf), '')
  if (ports.some(({ blocks }) => blocks)) return refused(ports)

  const plan: JoinPlan = {
    ...{ layout, address, check, ...sshd },
    ...{ source: process.execPath, installed: await versionOf(layout.executable) },
    record: {
      ...{ davit: url, name: check.name, address },
      files: [layout.joined, layout.keys, layout.firewall, layout.firewallUnit],
      ports: [
        `20000-29999/tcp, 4789/udp and 7946 for members`,
        `${sshd.sshPort}/tcp for ${check.from}`,
      ],
      hasMadeUser: before?.hasMadeUser ?? !hasUser(),
      hasCopiedExecutable: before?.hasCopiedExecutable ?? !existsSync(layout.executable),
    },
    async probe() {
      const { silent } = await tryPorts()
      if (silent.length > 0)
        throw new Failure(
          'ports_closed',
          `Davit doesn’t reach ports ${silent.join(', ')} of ${address}.`,
          openThere,
        )
    },
    async join() {
      const { sshPort, hostKey } = sshd
      await ask('/auth/join', { address, sshPort, hostKey }, 70)
    },
  }
  const steps = await stepsLeft(joinSteps(plan))
  if (steps.length === 0) {
    print(`Nothing to do: this server is ${check.name} of ${url}.`)
    return 0
  }
  print('To do:', ...steps.flatMap(linesOf), '')
  if (!(await confirmed({ yes, isDry }))) return 0
  await takeSteps(steps, { signal: untilSignal('davit join'), say: print })
  print('', `This server is ${check.name} of ${url}. What was done here is in ${layout.joined}.`)
  return 0
}

const openHere = 'The firewall of the steps below opens them here. Open them at your provider, too.'
const openThere =
  'Open them for Davit’s server in a firewall of this server or your provider. Then run davit join again.'

/** Ports of a manager at which not even a refusal comes back. */
async function silentPorts(cluster: string) {
  const ports = [2377, 7946]
  const heard = await Promise.all(ports.map((port) => reaches(cluster, port)))
  return ports.filter((_, at) => heard[at] === false)
}
