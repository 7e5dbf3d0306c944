import { layoutIn } from '../server/layout.ts'
import { planUninstall, refuseElsewhere } from '../server/uninstall.ts'
import type { Extent } from '../server/uninstall.ts'
import { holdSetup, refuseDuringUpgrade } from '../server/locks.ts'
import { takeSteps } from '../server/steps.ts'
import { confirmed } from './ask.ts'
import { print, readArguments } from './command.ts'
import type { Command } from './command.ts'
import { untilSignal } from './install.ts'

const usage = 'davit uninstall [--apps] [--data] [--yes] [--dry-run]'

const options = {
  apps: { type: 'boolean', default: false },
  data: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const

/** Removes data and apps only with their options. */
export const uninstall: Command = async (args) => {
  const given = readArguments(args, { usage, options })
  refuseElsewhere()
  using _hold = given['dry-run'] ? null : holdSetup(layoutIn())
  return await uninstallAsked(given)
}

type UninstallOptions = Extent & { yes: boolean; 'dry-run': boolean }

async function uninstallAsked({ yes, 'dry-run': isDry, ...extent }: UninstallOptions) {
  const { steps, lost, instanceId } = await planUninstall(extent)
  if (extent.apps && !instanceId)
    print(
      'Davit’s data isn’t there or can’t be read, so its apps aren’t known, and they stay. This lists what is left: docker ps --all --filter label=davit.instance',
      '',
    )
  if (steps.length === 0) {
    print('Nothing to do: Davit isn’t installed here.')
    return 0
  }
  print('To do:', ...steps.map(({ does }, index) => `  ${index + 1}. ${does}`), '')
  if (lost.length > 0) print('This deletes for good:', ...lost.map((what) => `  - ${what}`), '')
  if (!extent.data)
    print(
      'The data stays in /var/lib/davit, backups of upgrades in /var/lib/davit-upgrade, the settings in /etc/davit.',
    )
  if (!extent.apps && instanceId)
    print(`Apps and services run on: docker ps --filter label=davit.instance=${instanceId}`)
  if (!(await confirmed({ yes, isDry }))) return 0
  refuseDuringUpgrade(layoutIn()) // one may have begun since
  await takeSteps(steps, { signal: untilSignal('davit uninstall'), say: print })
  print('', 'Davit is uninstalled.')
  return 0
}
