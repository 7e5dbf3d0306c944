import { interpolateText, mentionsIn, roomForFile } from './interpolate.ts'
import type { Template } from './template.ts'
import { hostVariable } from './template.ts'

type File = Pick<Template, 'variables' | 'source'>
type Values = ReadonlyMap<string, string>

type Named = { host: string; values: Values }

/** The lines for clients that connect to the instance. `secret` is true if a line uses a secret variable. */
export function connectionOf(file: File & Pick<Template, 'connection'>, { host, values }: Named) {
  const room = roomForFile()
  const lookup = (name: string) => (name === hostVariable ? host : values.get(name))
  return file.connection.map(({ label, value }) => ({
    label,
    value: interpolateText(value, lookup, room),
    secret: isSecret(file, value),
  }))
}

export type Provided = { value: string; secret: boolean }

/**
 * The variables that the file declares for linked apps, by name. In an address, values are encoded so that
 * none changes another part of it.
 */
export function declaredFor(
  file: File & Pick<Template, 'provides'>,
  { host, values }: Named,
): Map<string, Provided> {
  const room = roomForFile()
  return new Map(
    [...file.provides].map(([name, text]) => {
      const encode = isAddress.test(text) ? encoded : (value: string | undefined) => value
      const lookup = (name: string) => (name === hostVariable ? host : encode(values.get(name)))
      return [name, { value: interpolateText(text, lookup, room), secret: isSecret(file, text) }]
    }),
  )
}

const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i

const encoded = (value: string | undefined) =>
  value === undefined ? undefined : encodeURIComponent(value.toWellFormed())

const isSecret = ({ variables, source }: File, text: string) =>
  mentionsIn(text, source).some(({ name }) => variables.get(name)?.secret)
