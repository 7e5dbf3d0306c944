import type { Db } from '../db/index.ts'
import { Failure } from '../platform/errors.ts'
import { limits } from '../platform/limits.ts'
import type { Catalogue, Entry } from '../services/catalogue.ts'
import { declaredFor } from '../services/compose/connection.ts'
import type { Provided } from '../services/compose/connection.ts'
import type { Template } from '../services/compose/template.ts'
import { freeHost } from '../services/hosts.ts'
import { freeName } from '../services/make.ts'
import { providesOf } from '../services/provides.ts'
import { listNames, listServices } from '../services/store.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { numbered } from './change.ts'
import type { LinkDeps } from './effective.ts'
import { listLinks } from './store.ts'

type ChoiceQuery = { ownerId: string; environmentId: string }

export async function choicesFor(
  { db }: { db: Db },
  { catalogue, ownerId, environmentId }: ChoiceQuery & { catalogue: Catalogue },
) {
  const linked = listLinks(db, environmentId).map(({ service }) => service.id)
  const services = listServices(db, { ownerId, limit: limits.services })
  const { entries } = await catalogue.list()
  const isDatabase = ({ about }: Entry) => about.category === 'database'
  const linkable = entries.filter(({ isLinkable }) => isLinkable)
  return {
    services: services
      .filter(({ deletingAt }) => !deletingAt)
      .map((service) => ({ ...service, isLinked: linked.includes(service.id) })),
    templates: [...linkable.filter(isDatabase), ...linkable.filter((entry) => !isDatabase(entry))],
  }
}

export type Choices = Awaited<ReturnType<typeof choicesFor>>

export type Offered = ReturnType<typeof offered>

/** For an existing service. Empty when its file or its values can't be read. */
export async function offeredBy(
  deps: LinkDeps,
  { service, environmentId }: { service: Service; environmentId: string },
): Promise<Offered> {
  try {
    const { values, proposes } = providesOf(deps, await definitionOf(deps, service))
    return offered(deps, { values, proposes, environmentId, but: service.id })
  } catch (error) {
    if (error instanceof Failure) return { provided: [], proposed: {} }
    throw error
  }
}

/** For a service that would be created from the template, under a free name. */
export function offeredByNew(
  { db }: { db: Db },
  { template, file, ownerId, environmentId }: ChoiceQuery & { template: string; file: Template },
): Offered & { suggestion: string } {
  const suggestion = freeName(template, listNames(db, ownerId))
  const host = freeHost(db, { ownerId, name: suggestion })
  const known = [...file.variables.values()].map(({ name, default: value }) => [name, value ?? ''])
  const values = declaredFor(file, { host, values: new Map(known as [string, string][]) })
  return { suggestion, ...offered({ db }, { values, proposes: file.proposes, environmentId }) }
}

/** The variables that an app gets from a service, for display, with the proposed keys. */
function offered(
  { db }: { db: Db },
  {
    values,
    proposes,
    environmentId,
    but,
  }: {
    values: Map<string, Provided>
    proposes: ReadonlyMap<string, string>
    environmentId: string
    /** The id of a service whose own keys may be proposed again. */
    but?: string
  },
) {
  const others = listLinks(db, environmentId).filter(({ service }) => service.id !== but)
  const taken = new Set(others.flatMap(({ link }) => Object.keys(link.variables)))
  return {
    provided: [...values].map(([name, { value, secret }]) => ({
      ...{ name, secret },
      value: secret ? null : value,
    })),
    proposed: numbered(proposes, taken),
  }
}
