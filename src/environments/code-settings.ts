import type { CodeSettings, environments } from '../db/schema.ts'
import { conflictField } from '../platform/errors.ts'
import { whereSet } from '../projects/davit-file.ts'

type Environment = typeof environments.$inferSelect

const fields = ['processes', 'releaseCommand', 'port', 'healthPath', 'healthTimeout'] as const

type Field = (typeof fields)[number]

/** The environment as a commit with these settings runs it. The user's own values are kept beside. */
export function withCode(environment: Environment, code: CodeSettings | null): Environment {
  const own = { ...environment, ...environment.ownSettings } as Environment
  const set = fields.filter((name) => code?.settings[name] !== undefined)
  return {
    ...own,
    ...(Object.fromEntries(
      set.map((name) => [name, code!.settings[name]]),
    ) as Partial<Environment>),
    codeSettings: code,
    ownSettings: Object.fromEntries(set.map((name) => [name, own[name]])),
  }
}

export const codeColumns = [...fields, 'codeSettings', 'ownSettings'] as const

export const isFromCode = ({ ownSettings }: Pick<Environment, 'ownSettings'>, name: string) =>
  Object.hasOwn(ownSettings, name)

export const fromCode = ({ codeSettings }: Pick<Environment, 'codeSettings'>) =>
  codeSettings && { file: codeSettings.file, settings: Object.keys(codeSettings.settings) }

/** Throws when a value is sent that differs from the commit's. */
export function refuseFromCode(environment: Environment, changes: Partial<Record<Field, unknown>>) {
  const changed = fields.find(
    (name) =>
      isFromCode(environment, name) &&
      changes[name] !== undefined &&
      !Bun.deepEquals(changes[name], environment[name]),
  )
  if (changed) throw conflictField(changed, whereSet(environment.codeSettings!))
}
