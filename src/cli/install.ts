import { AppError, Failure } from '../platform/errors.ts'
import { version } from '../platform/root.ts'
import { firstSignal } from '../platform/signals.ts'
import { hasSettings, install as takePlan, nextSteps, planInstall } from '../server/install.ts'
import type { Choice } from '../server/install.ts'
import type { Judged } from '../server/judge.ts'
import { layoutIn } from '../server/layout.ts'
import type { Step } from '../server/steps.ts'
import { holdSetup, refuseDuringUpgrade } from '../server/locks.ts'
import { ConfigError } from '../config.ts'
import { askLine, confirmed, isTerminal } from './ask.ts'
import { print, readArguments, warn } from './command.ts'
import type { Command } from './command.ts'

const usage =
  'davit install [--domain DOMAIN] [--email EMAIL] [--host ADDRESS] [--port PORT] [--yes] [--dry-run]'

const options = {
  domain: { type: 'string' },
  email: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const

export const install: Command = async (args) => {
  const { yes, 'dry-run': isDry, ...given } = readArguments(args, { usage, options })
  if (!Bun.isStandaloneExecutable)
    throw new AppError(
      'invalid',
      'This isn’t the executable. Build and install it: npm run install:server',
    )
  // a dry run, and a user other than root, change nothing
  using _hold = isDry || process.getuid?.() !== 0 ? null : holdSetup(layoutIn())
  return await installAsked(given, { yes, isDry })
}

async function installAsked(given: Choice, how: { yes: boolean; isDry: boolean }): Promise<number> {
  const { yes, isDry } = how
  const isAsking = !yes && !isDry && isTerminal()
  const choice = isAsking && !hasSettings() ? await askChoice(given) : given
  const plan = await planNamed(choice)
  print(`Davit ${version}, on this server:`, ...plan.findings.map(lineOf), '')
  // a dry run doesn't need root
  if (plan.findings.some(({ blocks, what }) => blocks && !(isDry && what === 'user')))
    return refused(plan.findings)
  if (plan.steps.length === 0) {
    print(`Nothing to do: Davit ${version} is installed and runs.`, '', ...nextSteps(plan))
    return 0
  }
  print(`${headings[plan.found]}:`)
  print(...plan.steps.flatMap(linesOf), '')
  if (plan.found === 'upgrade') print('What is left to do then will be shown.', '')
  if (!(await confirmed({ yes, isDry }))) return 0
  refuseDuringUpgrade(plan.layout) // one may have begun since
  await takePlan(plan, { signal: untilSignal('davit install'), say: print })
  if (plan.found === 'upgrade') return installAsked(given, how)
  const done = plan.found === 'running' ? 'is up to date, and runs' : 'is installed, and runs'
  print('', `Davit ${version} ${done}.`, ...nextSteps(plan))
  return 0
}

export const linesOf = ({ does, parts = [] }: Step, index: number) => [
  `  ${index + 1}. ${does}`,
  ...parts.map((part) => `     - ${part}`),
]

const headings = {
  nothing: 'To do',
  part: 'Davit is partly installed. Left to do',
  running: 'Davit is installed and runs. To bring it up to date',
  upgrade: 'An upgrade was interrupted. To do first',
}

export const lineOf = ({ what, is, todo, blocks }: Judged) =>
  `  ${blocks ? 'stop ' : todo ? 'to do' : 'ok   '}  ${what.padEnd(9)}  ${todo ? `${is}. ${todo}` : is}`

/** Says what stops a command; the status is that it did. */
export function refused(findings: Judged[]) {
  for (const { is, todo, blocks } of findings) if (blocks) warn(`${is}. ${todo}`)
  return 1
}

async function askChoice(given: Choice): Promise<Choice> {
  const domain =
    given.domain ??
    (await askLine('Domain of this server, such as davit.example.com (empty: none yet): '))
  const email =
    given.email ??
    (domain === ''
      ? ''
      : await askLine('E-mail address for notices about certificates (empty: none): '))
  return { ...given, domain, email }
}

/** Names the option instead of the setting in an error. */
async function planNamed(choice: Choice) {
  try {
    return await planInstall(choice, process.execPath)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const named = Object.entries({
      DAVIT_DOMAIN: '--domain',
      DAVIT_ACME_EMAIL: '--email',
      DAVIT_HOST: '--host',
      DAVIT_PORT: '--port',
    }).reduce(
      (text, [setting, option]) => text.replace(new RegExp(`^${setting} `), `${option} `),
      error.message,
    )
    throw new ConfigError(named)
  }
}

export function untilSignal(command: string) {
  const stop = new AbortController()
  const todo = `Run ${command} again to finish.`
  void firstSignal().then((name) =>
    stop.abort(new Failure('interrupted', `Interrupted by ${name}.`, todo)),
  )
  return stop.signal
}
