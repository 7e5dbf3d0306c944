import { expect } from 'bun:test'
import { answerOf, aProject } from '../faults/project.ts'
import type { Viewer } from '../faults/watch.ts'
import type { Files } from '../support/git-server.ts'
import { until } from '../support/until.ts'
import { outcomeOf, states } from './apps.ts'
import { stored } from './harness.ts'
import type { Operation } from './harness.ts'

const files = (text: string): Files => ({
  'compose.yaml': `services:
  site: {build: web, ports: ["8080"], depends_on: [keep]}
  worker: {build: web, command: [sleep, "9999"]}
  keep: {image: busybox, command: [sleep, "9999"], volumes: ["data:/data"]}
volumes: {data: {}}
`,
  'web/Dockerfile':
    'FROM busybox\nCOPY www /www\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n',
  'web/www/index.html': text,
})

/** Of three services one keeps running. */
export const stack: Operation = async (start) => {
  const davit = await start()
  const project = await aProject(davit, files('first'))
  await davit.client.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
  const { url } = await project.deploy()
  const kept = () =>
    davit.rows<{ id: string }>(
      "SELECT container_id AS id FROM instances WHERE component = 'keep' AND state = 'live'",
    )
  const [before] = kept()
  let version = 'first'
  return {
    moments: ['building', ...Object.keys(states)].map((name) => {
      let viewer: Viewer
      return {
        name,
        async begin() {
          project.commit(files((version = name)))
          viewer = await project.trigger()
          const sql = name === 'building' ? building : states[name as keyof typeof states]
          await stored(davit, sql, { within: 400 })
        },
        end: async () => expect(await outcomeOf(davit, viewer)).toEqual(['running', undefined]),
      }
    }),
    async faults() {
      let answer = ''
      await until(async () => (answer = await answerOf(url)) !== '')
      const names = davit
        .rows<{ component: string }>(
          "SELECT component FROM instances WHERE state = 'live' ORDER BY component",
        )
        .map(({ component }) => component)
        .join()
      return [
        ...(answer === version ? [] : [`it answers ${answer}`]),
        ...(names === 'keep,web,worker' ? [] : [`it has ${names}`]),
        ...(kept()[0]?.id === before!.id
          ? []
          : ['the service that was not changed is another one']),
      ]
    },
  }
}

const building = "SELECT 1 FROM deployments WHERE status = 'building'"
