import type { z } from 'zod'
import { placementText } from '../environments/placement.ts'
import type { Server } from '../runtime/placement.ts'
import { dotenv } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Definition } from './definition.ts'
import type { difference } from './json.ts'

/** One difference. For secrets, only the fact that they changed. */
export type Change = z.output<ReturnType<typeof difference>>['changes'][number]

/** In the order of the form. */
export function differenceOf(before: Definition, after: Definition, servers: Server[]): Change[] {
  const [from, to] = [before, after].map(
    ({ placement }) => placement && placementText(servers, placement),
  )
  const changes = [
    plain('name', 'Name', before.name, after.name),
    ...variables(before, after),
    plain('version', 'Version', before.version, after.version),
    plain('hostPort', 'Host port', portsOf(before), portsOf(after)),
    plain('placement', 'Server', from ?? '', to ?? ''),
    plain('domains', 'Domains', before.domains.join(', '), after.domains.join(', ')),
    plain('allowed', 'Allowed', before.allowed.join(', '), after.allowed.join(', ')),
    hidden('compose', 'Compose file', before.compose, after.compose, false),
    hidden('env', '.env', before.values.get(dotenv), after.values.get(dotenv), true),
  ]
  return changes.filter((change) => change !== null)
}

function variables(before: Definition, after: Definition) {
  const asked = [...askedFor(before.file.variables), ...askedFor(after.file.variables)]
  const byName = new Map(asked.map((variable) => [variable.name, variable]))
  return [...byName.values()].map(({ name, label, secret }) => {
    const [from, to] = [before, after].map(({ values }) => values.get(name))
    return secret ? hidden(name, label, from, to, true) : plain(name, label, from, to)
  })
}

const portsOf = ({ ports }: Definition) => ports.map(({ port }) => port).join(', ')

const plain = (field: string, label: string, from = '', to = ''): Change | null =>
  from === to ? null : { field, label, from: from || null, to: to || null, secret: false }

/** For values that are secret, or too long to show. */
const hidden = (field: string, label: string, from = '', to = '', secret: boolean) =>
  from === to ? null : { field, label, from: null, to: null, secret }
