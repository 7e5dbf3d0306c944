import type { Template } from '../../../src/services/compose/template.ts'
import { fillValues, withDerived } from '../../../src/services/compose/values.ts'

export const origin = { file: 'compose.yaml', field: 'compose' }

/** Each service has a host of its own, at the ports that it has inside. */
export const addressOf = (service: string, port: number | null) =>
  `http://${service}.example.com:${port}`

/** The values of a template's variables, with those that a user gives. */
export const filled = ({ variables }: Template, given: Record<string, string> = {}) =>
  withDerived(
    variables,
    fillValues(variables, { given: new Map(Object.entries(given)) }),
    addressOf,
  )
