import { z } from 'zod'
import { variableName } from '../projects/forms.ts'
import { serviceForm } from '../services/forms.ts'
import { line, pairs } from '../web/fields.ts'

/** Keys in the app, each with the name of what the service provides. */
const variables = pairs(variableName, { max: 100 })

const serviceId = line('the id of a service', { max: 36 })
const template = line('the name of a template', { max: 100 })

/** Which service was chosen: neither asks for it. */
export const newLinkQuery = z.object({
  serviceId: serviceId.optional(),
  template: template.optional(),
})

/** To a service that is there, or to one that is created from a template with the fields that this asks for. */
export const linkForm = z.looseObject({
  ...serviceForm.shape,
  name: serviceForm.shape.name.nullish(),
  serviceId: serviceId.nullish(),
  template: template.nullish(),
  variables: variables.nullish(),
})

/** Null clears them; left out, it is for the caller to say. */
export const chosenIn = ({
  variables,
}: {
  variables?: Record<string, string> | null | undefined
}) =>
  variables === undefined
    ? undefined
    : Object.fromEntries(Object.entries(variables ?? {}).map(([key, name]) => [key, name.trim()]))

export const linkUpdateForm = z.object({ variables: variables.nullish() })
