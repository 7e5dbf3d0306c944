import { existsSync, readFileSync, statSync } from 'node:fs'
import { parseConfig } from '../config.ts'
import { Failure } from '../platform/errors.ts'
import { settingsOf } from './environment-file.ts'
import type { Layout } from './layout.ts'

export const configOf = ({ settings }: Layout) =>
  parseConfig(settingsOf(readFileSync(settings, 'utf8')))

/** What a server lacks to be an installation by `davit install`; null when it has everything. */
export function lacksOf({ executable, settings, unit }: Layout) {
  if (!existsSync('/run/systemd/system')) return 'systemd doesn’t run it'
  const missing = [executable, settings, unit].find((path) => !existsSync(path))
  return missing === undefined ? null : `there is no ${missing}`
}

/** Throws unless `davit install` installed this server and root runs the command. */
export function refuseOtherThanInstalled(
  layout: Layout,
  { does, todo }: { does: string; todo: string },
) {
  if (process.getuid?.() !== 0)
    throw new Failure('not_root', `Only root can ${does} Davit.`, 'Run it with sudo.')
  const lacks = lacksOf(layout)
  if (lacks !== null)
    throw new Failure(
      'not_installed',
      `Davit wasn’t installed here by davit install: ${lacks}.`,
      todo,
    )
  refuseOtherExecutable(layout, { own: process.execPath, does })
}

/** Throws unless the installed executable runs this command: it describes the version that is replaced. */
export function refuseOtherExecutable(
  { executable }: Pick<Layout, 'executable'>,
  { own, does }: { own: string; does: string },
) {
  const [installed, running] = [executable, own].map((path) => statSync(path))
  if (installed!.ino === running!.ino && installed!.dev === running!.dev) return
  throw new Failure(
    'not_installed',
    `This executable isn’t the installed one, which is ${executable}.`,
    `Run ${executable} ${does}, or install this one by its command install.`,
  )
}
