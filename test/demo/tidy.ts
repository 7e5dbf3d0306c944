import { askEngine } from '../support/machine/engine.ts'
import type { DavitClient } from './client.ts'

const kinds = [
  { path: '/containers', list: '/containers/json?all=1&', force: '?force=1&v=1' },
  { path: '/images', list: '/images/json?', force: '?force=1' },
  { path: '/networks', list: '/networks?', force: '' },
]

/** Has Davit delete the project. What is left of it then is removed too, and told as a failure. */
export const removeProject = (davit: DavitClient, id: string) =>
  remove(davit, `/projects/${id}`, { what: 'project', label: `davit.project=${id}` })

/** The same for a service. */
export const removeService = (davit: DavitClient, id: string) =>
  remove(davit, `/services/${id}`, { what: 'service', label: `davit.service=${id}` })

async function remove(
  davit: DavitClient,
  path: string,
  { what, label }: { what: string; label: string },
) {
  // The engine is asked whatever Davit says, so that a Davit that broke leaves nothing behind.
  const refusal = await davit.delete(`${path}?volumes=1`).then(() => '', String)
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  const left: string[] = []
  for (const { path, list, force } of kinds) {
    const answer = await askEngine(`${list}filters=${filters}`)
    for (const { Id } of (await answer.json()) as { Id: string }[]) {
      left.push(`${path}/${Id}`)
      await askEngine(`${path}/${Id}${force}`, { method: 'DELETE' })
    }
  }
  if (refusal) throw new Error(`Davit did not delete the ${what}. ${refusal}`)
  if (left.length > 0) throw new Error(`Davit left of the ${what}: ${left.join(', ')}.`)
}
