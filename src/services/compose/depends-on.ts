import { conditions } from '../../runtime/component.ts'
import type { Field } from './field.ts'
import type { Dependency } from './model.ts'

/** Includes the services that `links` and `volumes_from` name. */
export function dependenciesOf(field: Field, others: { service: string }[]): Dependency[] {
  const said = field.isMap ? field.entries().map(longForm) : field.items().map(started)
  const implied = new Set(others.map(({ service }) => service))
  for (const { service } of said) implied.delete(service)
  return [...said, ...[...implied].map(startedFirst)]
}

const startedFirst = (service: string): Dependency => ({
  service,
  condition: 'service_started',
  restart: false,
  required: true,
})

const started = (item: Field) => startedFirst(item.text('a service'))

function longForm([service, entry]: [string, Field]): Dependency {
  entry.only(['condition', 'restart', 'required'])
  return {
    service,
    condition: entry.get('condition').or('service_started', (c) => c.oneOf(conditions)),
    restart: entry.get('restart').or(false, (r) => r.flag()),
    required: entry.get('required').or(true, (r) => r.flag()),
  }
}
