import type { Template } from './compose/template.ts'
import { dotenv } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Definition } from './definition.ts'

/** One thing that is not as it was; of what is secret only that it changed. */
export type Change = {
  field: string
  label: string
  from: string | null
  to: string | null
  secret: boolean
}

type State = { definition: Definition; domains: string[]; template: Template }

/** What changes between two states of an instance, in the order of the form. */
export function differenceOf(before: State, after: State): Change[] {
  const changes = [
    plain('name', 'Name', before.definition.name, after.definition.name),
    ...variables(before, after),
    plain('version', 'Version', before.definition.version, after.definition.version),
    ...ports(before, after),
    plain('domains', 'Domains', before.domains.join(', '), after.domains.join(', ')),
    plain('allowed', 'Allowed', allowed(before), allowed(after)),
    hidden('compose', 'Compose file', before.definition.compose, after.definition.compose, false),
    hidden('env', '.env', env(before), env(after), true),
  ]
  return changes.filter((change) => change !== null)
}

function variables(before: State, after: State) {
  const asked = [...askedFor(before.template.variables), ...askedFor(after.template.variables)]
  const byName = new Map(asked.map((variable) => [variable.name, variable]))
  return [...byName.values()].map(({ name, label, secret }) => {
    const from = before.definition.values.get(name) ?? ''
    const to = after.definition.values.get(name) ?? ''
    return secret ? hidden(name, label, from, to, true) : plain(name, label, from, to)
  })
}

function ports(before: State, after: State) {
  const text = ({ definition }: State) => definition.ports.map(({ port }) => port).join(', ')
  return [plain('hostPort', 'Port of this host', text(before), text(after))]
}

const allowed = ({ definition }: State) => definition.allowed.join(', ')
const env = ({ definition }: State) => definition.values.get(dotenv) ?? ''

const plain = (field: string, label: string, from: string, to: string): Change | null =>
  from === to ? null : { field, label, from: from || null, to: to || null, secret: false }

/** Too long to show, or secret. */
const hidden = (field: string, label: string, from: string, to: string, secret: boolean) =>
  from === to ? null : { field, label, from: null, to: null, secret }
