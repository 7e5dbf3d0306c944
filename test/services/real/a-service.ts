import { expect } from 'bun:test'
import { hasJob } from '../../../src/jobs/store.ts'
import type { testApp } from '../../support/app.ts'
import { execIn } from '../../support/exec.ts'

export type App = ReturnType<typeof testApp>
export type Client = ReturnType<App['logIn']>

/** An instance as its owner sees it and its servers answer. */
export type AService = Awaited<ReturnType<typeof aService>>

/** Makes an instance of a template through the product and waits until its start has ended. */
export async function aService(
  t: App,
  client: Client,
  template: string,
  input: Record<string, unknown> = {},
) {
  const made = await client.post(`/services/${template}`, { name: template, ...input })
  expect(made).toMatchObject({ status: 201 })
  const path = `/services/${made.json.id}`
  await settled()
  const see = async () => (await client.get(path)).json

  return {
    id: made.json.id as string,
    path,
    see,
    /** Does something to it and waits until that has ended. */
    async act(method: 'put' | 'post' | 'delete', to = '', body: Record<string, unknown> = {}) {
      const answer = await client[method](path + to, body)
      await settled()
      return answer
    },
    async secrets(): Promise<Record<string, string>> {
      const { json } = await client.get(`${path}/secrets`)
      const details = json.connection as { label: string; value: string }[]
      return Object.fromEntries(details.map(({ label, value }) => [label, value]))
    },
    /** Runs a program in the container of one of its services. */
    run: async (part: string, command: string[], env: Record<string, string> = {}) =>
      execIn(await container(part), command, { env }),
    container,
  }

  async function container(part: string): Promise<string> {
    const { containers } = await see()
    return containers.find((container: { part: string }) => container.part === part).id
  }

  async function settled() {
    while (hasJob(t.db, made.json.id)) await Bun.sleep(20)
  }
}

/** What an installation has on the engine. */
export async function onTheEngine({ docker, instanceId }: Pick<App, 'docker' | 'instanceId'>) {
  const labels = [`davit.instance=${instanceId}`]
  return {
    containers: (await docker.listContainers({ labels, all: true })).map(({ name }) => name),
    networks: (await docker.listNetworks({ labels })).map(({ name }) => name),
    volumes: (await docker.listVolumes({ labels })).map(({ name }) => name),
  }
}

export const nothing = { containers: [], networks: [], volumes: [] }
