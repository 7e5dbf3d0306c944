import { z } from 'zod'
import { variableName } from '../projects/forms.ts'
import { serviceForm } from '../services/forms.ts'
import { line, pairs } from '../web/fields.ts'

/** Keys in the app, with the service's name for each variable. */
const variables = pairs(variableName, { max: 100 })

const serviceId = line('the id of a service', { max: 36 })
const template = line('the name of a template', { max: 100 })

/** Without either, the service must be chosen first. */
export const newLinkQuery = z.object({
  serviceId: serviceId.optional(),
  template: template.optional(),
})

/** A link to an existing service, or to one created from a template with its fields. */
export const linkForm = z.looseObject({
  ...serviceForm.shape,
  name: serviceForm.shape.name.nullish(),
  serviceId: serviceId.nullish(),
  template: template.nullish(),
  variables: variables.nullish(),
})

/** Null clears the variables; undefined leaves the decision to the caller. */
export const chosenIn = ({
  variables,
}: {
  variables?: Record<string, string> | null | undefined
}) =>
  variables === undefined
    ? undefined
    : Object.fromEntries(Object.entries(variables ?? {}).map(([key, name]) => [key, name.trim()]))

export const linkUpdateForm = z.object({ variables: variables.nullish() })
