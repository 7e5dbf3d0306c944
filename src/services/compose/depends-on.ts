import { conditions } from '../../runtime/component.ts'
import type { Field } from './field.ts'
import type { Dependency } from './model.ts'

export function dependenciesOf(field: Field): Dependency[] {
  if (!field.isMap)
    return field.items().map((item) => ({
      service: item.text('a service'),
      condition: 'service_started',
      restart: false,
      required: true,
    }))
  return field.entries().map(([service, entry]) => {
    entry.only(['condition', 'restart', 'required'])
    return {
      service,
      condition: entry.get('condition').or('service_started', (c) => c.oneOf(conditions)),
      restart: entry.get('restart').or(false, (r) => r.flag()),
      required: entry.get('required').or(true, (r) => r.flag()),
    }
  })
}

export function refuseUnknownServices(
  services: Map<string, { dependsOn: Dependency[] }>,
  field: Field,
) {
  for (const [name, { dependsOn }] of services)
    for (const { service, required } of dependsOn)
      if (required && !services.has(service))
        throw field
          .get(name)
          .get('depends_on')
          .refuse(`names ${service}, which is no service of this file.`)
}
