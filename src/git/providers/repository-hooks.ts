import { z } from 'zod'
import { ask, pathOf } from './ask.ts'
import type { Api } from './ask.ts'
import { readAll } from './pages.ts'
import type { Webhook } from './provider.ts'
import { unlessGone } from './provider-error.ts'

/*
 * Webhooks of a repository as GitHub's API has them, which Gitea took over: only what is sent to
 * make one, and how a page is asked for, differ.
 */

/** Below it is all that is asked about one repository. */
export const repos = (name: string) => `/repos/${pathOf(name)}`

const hook = z.object({ id: z.number(), config: z.object({ url: z.string().optional() }) })

export async function createHook(
  api: Api,
  { repository, url, body }: { repository: string; url: string; body: object },
): Promise<Webhook> {
  const { data } = await ask(api, {
    method: 'POST',
    path: `${repos(repository)}/hooks`,
    what: `webhook of ${repository}`,
    body,
    schema: hook,
  })
  return { id: String(data.id), url }
}

/** Looks through all pages; `firstPage` is the query of the first. */
export async function findHook(
  api: Api,
  { repository, url, firstPage }: { repository: string; url: string; firstPage: string },
): Promise<Webhook | null> {
  const { items } = await readAll(api, {
    path: `${repos(repository)}/hooks?${firstPage}`,
    what: `webhooks of ${repository}`,
    schema: hook,
    key: ({ id }) => String(id),
  })
  const found = items.find(({ config }) => config.url === url)
  return found ? { id: String(found.id), url } : null
}

export async function deleteHook(
  api: Api,
  { repository, id }: { repository: string; id: string },
): Promise<void> {
  const path = `${repos(repository)}/hooks/${encodeURIComponent(id)}`
  const what = `webhook of ${repository}`
  await ask(api, { method: 'DELETE', path, what, schema: z.unknown() }).catch(unlessGone)
}
