import { z } from 'zod'
import { hostName } from '../addresses/hosts.ts'
import { hostPort } from '../environments/forms.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { FieldError } from '../platform/errors.ts'
import { camelCase } from '../web/body.ts'
import { removalForm } from '../projects/forms.ts'
import { block, flag, line, lines } from '../web/fields.ts'
import { pageQuery } from '../web/paging.ts'
import { maxFileBytes } from '../platform/yaml.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import type { Variables } from './compose/variables.ts'
import { askedFor } from './compose/values.ts'
import { placementField } from './placement.ts'

export const serviceName = line('a name of 1 to 60 characters', { max: 60 })

const version = line('a tag of its image', { max: 128 }).regex(
  /^\w[\w.-]*$/,
  'must be a tag of its image, such as 17.2 or latest.',
)

const danger = line('what an admin allows', { max: 5000 })

const compose = block('the text of a Compose file', { max: maxFileBytes })
const env = block('the text of a .env file', { max: 500_000 })

const settings = {
  version: version.nullish(),
  hostPort: hostPort.nullish(),
  domains: lines(hostName, { max: 50 }).nullish(),
  placement: placementField(),
  /** Keys of the dangers that an admin allows for this instance. */
  allowed: lines(danger, { max: 100 }).nullish(),
}

/** In addition, the form has a field for each variable of the template. */
export const serviceForm = z.looseObject({ name: serviceName, ...settings })

export const anyServiceForm = z.looseObject({
  template: line('the name of a template', { max: 100 }),
  ...serviceForm.shape,
})

/** A user's own file, as text or as an upload. */
export const ownServiceForm = z.looseObject({
  ...serviceForm.shape,
  compose: compose.nullish(),
  env: env.nullish(),
})

/** A file can be previewed before its instance has a name. */
export const ownFileForm = z.looseObject({ ...ownServiceForm.shape, name: serviceName.nullish() })

export const serviceUpdateForm = z.looseObject({
  ...ownServiceForm.shape,
  name: serviceName.optional(),
  preview: flag().nullish(),
  /** Makes a backup first; by default where the version changes and there is a target. */
  backupFirst: flag().nullish(),
})

/** With `force`, a service that is linked is deleted too. */
export const serviceRemovalForm = removalForm.extend({ force: flag().nullish() })

export const catalogueQuery = pageQuery.extend({
  q: line('words to search for', { max: 100 }).optional(),
  category: line('a category', { max: 40 }).optional(),
})

const fields = new Set([
  ...Object.keys(serviceUpdateForm.shape),
  ...Object.keys(anyServiceForm.shape),
  'composeFile',
])

/** Reads the fields that are values of variables; unknown fields are refused by name. */
export function givenValues(variables: Variables, input: object): Map<string, string> {
  const given = new Map<string, string>()
  const errors: FieldError[] = []
  const names = new Map(
    askedFor(variables).flatMap(({ name }) => [
      [camelCase(name), name],
      [name, name],
    ]),
  )
  for (const [field, value] of Object.entries(input)) {
    if (fields.has(field)) continue
    const name = names.get(field)
    if (name === undefined)
      errors.push({ field, message: 'isn’t a field or a variable of this template.' })
    else if (typeof value === 'object' && value !== null)
      errors.push({ field: name, message: 'must be a string.' })
    else given.set(name, value === null ? '' : String(value))
  }
  if (errors.length === 0) return given
  const all = errors.map(({ field, message }) => `${field} ${message}`).join(' ')
  throw new AppError('invalid', all, { fields: errors })
}

/** The values entered so far for a file's variables and its `.env`, in a form or a body. */
export const typedValues = (
  { variables, files }: Pick<Template, 'variables' | 'files'>,
  typed: Record<string, unknown>,
): Map<string, string> => {
  const values = askedFor(variables).flatMap(({ name }): [string, string][] => {
    const value = typed[name] ?? typed[camelCase(name)] ?? ''
    return value === '' || typeof value === 'object' ? [] : [[name, String(value)]]
  })
  const hasEnv = files.has(dotenv) && typeof typed.env === 'string'
  return new Map(hasEnv ? [[dotenv, typed.env as string], ...values] : values)
}

export function refuseClashes(variables: Variables) {
  const clash = askedFor(variables).find(({ name }) => fields.has(camelCase(name)))
  if (clash)
    throw invalidField(
      'compose',
      `The variable ${clash.name} has the name of a field of this form. Rename it in the file.`,
    )
}
