import { connectDocker } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { readEngine } from '../server/joining/judge.ts'
import { leaveSteps } from '../server/joining/parts.ts'
import { readRecord } from '../server/joining/record.ts'
import { layoutIn } from '../server/layout.ts'
import { holdSetup } from '../server/locks.ts'
import { localEngine } from '../server/machine.ts'
import { stepsLeft, takeSteps } from '../server/steps.ts'
import type { Step } from '../server/steps.ts'
import { confirmed } from './ask.ts'
import { print, readArguments } from './command.ts'
import type { Command } from './command.ts'
import { linesOf, untilSignal } from './install.ts'

const usage = 'davit leave [--force] [--yes] [--dry-run]'

const options = {
  force: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const

/** Undoes davit join here. An admin removes the server in Davit before: that needs no login of this machine. */
export const leave: Command = async (args) => {
  const { force, yes, 'dry-run': isDry } = readArguments(args, { usage, options })
  if (process.getuid?.() !== 0)
    throw new Failure('not_root', 'You aren’t root.', 'Run it as root: sudo davit leave.')
  const layout = layoutIn()
  using _hold = isDry ? null : holdSetup(layout)
  const record = readRecord(layout)
  if (!record) {
    print('Nothing to do: this server hasn’t joined a Davit by davit join.')
    return 0
  }
  const isMember = (await readEngine())?.state.isMember ?? false
  if (isMember && !force)
    throw new AppError(
      'conflict',
      `Davit still has this server as ${record.name}. Remove it there first: ${record.davit}/settings/servers. If that Davit no longer exists: davit leave --force.`,
    )
  const steps = await stepsLeft([...(isMember ? [leaveSwarm] : []), ...leaveSteps(layout, record)])
  print('To do:', ...steps.flatMap(linesOf), '')
  if (!(await confirmed({ yes, isDry }))) return 0
  await takeSteps(steps, { signal: untilSignal('davit leave'), say: print })
  print('', `This server has left ${record.davit}.`)
  return 0
}

const leaveSwarm: Step = {
  does: 'Leave the swarm: networks across servers end here',
  isDone: () => false,
  act: () => connectDocker(localEngine).leaveSwarm(),
}
