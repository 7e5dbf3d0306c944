import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { firstFree, slugOf } from '../platform/names.ts'
import { isDavits } from './hosts.ts'
import { hasHostBelow, hasLabel, listGivenHosts, listNamed, setLabel } from './store.ts'

type Named = { project: string; environment: string }

/** The settings with Davit's own names. */
type NameConfig = Pick<Config, 'url' | 'domain'>

/** The environment that every project starts with; its label is just the project's name. */
const main = 'production'

/** Characters of one part of a name in the DNS (RFC 1035). */
const maxLabel = 63

/**
 * A free name under DAVIT_DOMAIN: `hello` for the production environment of the project Hello, else
 * `staging-hello`; with a number appended when that is taken.
 */
export function freeLabel(db: Db, { project, environment, ...config }: Named & NameConfig) {
  const slug = slugOf(project) || 'app'
  const wanted = environment === main ? slug : `${environment}-${slug}`
  return firstFree(
    (end) => wanted.slice(0, maxLabel - end.length).replace(/-+$/, '') + end,
    (label) => {
      const host = config.domain && `${label}.${config.domain}`
      const isGiven =
        host &&
        (isDavits(host, config) || listGivenHosts(db, [host]).length > 0 || hasHostBelow(db, host))
      return !hasLabel(db, label) && !isGiven
    },
  )
}

/** Names the environments of earlier versions, and renames those whose name became Davit's. */
export function fillLabels(db: Db, { url, domain }: NameConfig) {
  for (const { id, label, ...named } of listNamed(db))
    if (label === null || isDavits(`${label}.${domain}`, { url, domain }))
      setLabel(db, id, freeLabel(db, { ...named, url, domain }))
}

export function renameLabels(
  db: Db,
  { id: projectId, name, url, domain }: { id: string; name: string } & NameConfig,
) {
  for (const { id, environment } of listNamed(db, projectId)) {
    setLabel(db, id, null) // it may keep its current label
    setLabel(db, id, freeLabel(db, { project: name, environment, url, domain }))
  }
}
