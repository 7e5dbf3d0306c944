import { bytes } from '../web/units.ts'
import type { Manifest } from './format.ts'

const shown = ['user', 'project', 'environment', 'variable', 'service', 'deployment']

/** What is in a backup, in lines; no value of it. */
export function describeContents({ davit, createdAt, key, settings, files }: Manifest) {
  const rows = files.find(({ name }) => name === 'davit.db')?.rows ?? {}
  const names = Object.keys(settings)
  return [
    `  made      ${createdAt} by Davit ${davit}`,
    `  state     ${shown.map((name) => counted(rows[`${name}s`] ?? 0, name)).join(', ')}`,
    `  key       ${key === 'file' ? 'the key file' : tellKey(names)}`,
    `  settings  ${names.length > 0 ? names.join(', ') : 'none were set'}`,
    `  logs      ${tellLogs(files)}`,
  ]
}

const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`

const tellKey = (settings: string[]) =>
  settings.includes('DAVIT_SECRET_KEY')
    ? 'the setting DAVIT_SECRET_KEY'
    : 'not here: it is set as DAVIT_SECRET_KEY'

function tellLogs(files: Manifest['files']) {
  const logs = files.find(({ name }) => name === 'logs.db')
  return logs ? bytes(logs.size) : 'left out'
}
