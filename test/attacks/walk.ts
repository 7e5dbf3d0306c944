import type { TestApp } from '../support/app.ts'
import { fill } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'

export type Route = { method: string; path: string; route: string }

/** Every route of the product, once. */
export function routesOf({ app }: Pick<TestApp, 'app'>): Route[] {
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }): [string, Route] => {
      const route = `${method} ${path}`
      return [route, { method, path, route }]
    })
  return [...new Map(routes).values()]
}

/** What stands at `:id`, by the beginning of the path. */
const kinds: Record<string, keyof Ids> = {
  envs: 'variable',
  containers: 'container',
  services: 'service',
  git: 'source',
  registries: 'registry',
  users: 'user',
  sessions: 'session',
  tokens: 'token',
  identities: 'identity',
}

/** Where the route leads with these ids. */
export function addressOf({ path }: Route, ids: Ids) {
  const first = /^(?:\/settings)?\/(\w+)\//.exec(path)?.[1] ?? ''
  return fill(path, ids, kinds[first] ?? 'project').replace('*', 'app.js')
}
