import { aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import type { Files } from '../support/git-server.ts'
import type { Installation } from '../support/installation.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

export type Project = Awaited<ReturnType<typeof aProject>>
export type Ended = Deployment & { error: { code: string; message: string } | null }

/** A project whose repository has these files, and its first environment with these settings. */
export async function aProject(
  davit: Installation,
  files: Files,
  {
    name = 'site',
    url,
    ...settings
  }: { name?: string; url?: string } & Record<string, unknown> = {},
) {
  const repository = aRepository(davit.directory, files, `${name}.git`)
  type Made = { id: string; webhookSecret: string }
  const made = { name, repositoryUrl: url ?? repository.url }
  const { id, webhookSecret } = await davit.client.post<Made>('/projects', made)
  const { items } = await davit.client.get<{ items: { id: string }[] }>(`/projects/${id}/envs`)
  const environmentId = items[0]!.id
  const path = `/projects/${id}/envs/${environmentId}`
  if (Object.keys(settings).length > 0) await davit.client.put(path, settings)

  let last: Deployment
  const post = async (path: string, body = {}) =>
    watch(davit.client, (last = await davit.client.post<Deployment>(path, body)))

  return {
    ...{ id, environmentId, name, path, webhookSecret, commit: repository.commit },
    trigger: (asked = {}) => post(`/projects/${id}/deployments`, asked),
    /** To the last one. */
    rollBack: () => post(`${pathOf(last)}/rollback`),
    /** As it ended. */
    async deploy() {
      const viewer = await this.trigger()
      await viewer.ended
      return davit.client.get<Ended>(pathOf(viewer.deployment))
    },
  }
}

/** What an app answers, or why it does not. */
export const answerOf = (url: string) =>
  fetch(url).then(
    (response) => response.text(),
    (error: Error) => error.message,
  )
