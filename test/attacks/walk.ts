import type { TestApp } from '../support/app.ts'
import { fill, idOf } from '../support/everything.ts'
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

/** Where the route leads with these ids. */
export const addressOf = ({ path }: Route, ids: Ids) =>
  fill(path, ids, idOf(path)).replace('*', 'app.js')
