import { interpolateText, mentionsIn, roomForFile } from './interpolate.ts'
import type { Template } from './template.ts'
import { hostVariable } from './template.ts'

type File = Pick<Template, 'variables' | 'source'>
type Values = ReadonlyMap<string, string>

type Named = { host: string; values: Values }

/** How clients reach the instance; `secret` where a secret variable is in it. */
export function connectionOf(file: File & Pick<Template, 'connection'>, { host, values }: Named) {
  const room = roomForFile()
  const lookup = (name: string) => (name === hostVariable ? host : values.get(name))
  return file.connection.map(({ label, value }) => ({
    label,
    value: interpolateText(value, lookup, room),
    secret: isSecret(file, value),
  }))
}

/** What an app gets that is linked to an instance. */
export type Provided = { value: string; secret: boolean }

/** What the file says that linked apps get, by name. In an address, values can't be taken for a part of it. */
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
