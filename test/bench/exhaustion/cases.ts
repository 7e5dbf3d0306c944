import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aCommand } from '../../deployments/apps.ts'
import { pathOf } from '../../deployments/events.ts'
import { lengthenLog } from '../../logs/stored-lines.ts'
import { git } from '../../support/git-server.ts'
import { askEngine } from '../../support/machine/engine.ts'
import { aPush, sent } from '../../webhooks/senders.ts'
import type { Scene } from './scene.ts'

/** Prepares what costs nothing yet, and returns what is measured. */
type Case = { what: string; prepare: (scene: Scene) => Promise<() => Promise<unknown>> }

const page = { headers: { Accept: 'text/html' } }
const idle = aCommand('sleep 9999')
const kib = 1024
const mib = 1024 * 1024

/** What one member or a stranger sent to have Davit stand still or run out of memory. */
export const cases: Case[] = [
  {
    what: 'a Dockerfile whose arguments name each other',
    async prepare(scene) {
      const project = await scene.project({ Dockerfile: 'ARG A=$B\nARG B=$A\nFROM $A\n' })
      return () => scene.deploy(project)
    },
  },
  {
    what: 'a missing branch among 12,000',
    async prepare(scene) {
      const project = await scene.project(idle, { branch: 'feature/number-99999' })
      const { path, head } = project.repository
      const refs = Array.from(
        { length: 12_000 },
        (_, n) => `${head} refs/heads/feature/number-${String(n).padStart(5, '0')}`,
      )
      const header = '# pack-refs with: peeled fully-peeled sorted'
      writeFileSync(join(path, 'packed-refs'), `${[header, ...refs].join('\n')}\n`)
      return () => scene.deploy(project)
    },
  },
  {
    what: '40 secrets of 96 KB in short lines, and a build that prints 20,000 lines',
    async prepare(scene) {
      const prints = 'RUN seq 1 20000 | sed s/^/line-of-a-build-/'
      const project = await scene.project({
        Dockerfile: `FROM busybox\n${prints}\nCMD ["sleep", "9999"]\n`,
      })
      await asWorker(scene, project)
      for (let n = 0; n < 40; n++) {
        const lines = Array.from({ length: 12_000 }, (_, i) => (n * 12_000 + i).toString(36))
        const value = lines.map((text) => text.padStart(7, 'x')).join('\n')
        const variable = { key: `SECRET_${n}`, value: value.slice(0, 96 * kib), secret: true }
        // what is too much may be refused when it is saved
        await scene.client.ask('POST', `/envs/${project.environmentId}/variables`, {
          body: variable,
        })
      }
      return () => scene.deploy(project)
    },
  },
  {
    what: '100 watch paths of ten stars, and a push of 480 long paths',
    async prepare(scene) {
      const repositoryUrl = 'https://git.example.com/team/app.git'
      const project = await scene.project(idle, { branch: 'main', repositoryUrl })
      const watchPaths = Array.from({ length: 100 }, () => `${'*a'.repeat(9)}*a?c`)
      await scene.client.put(`/projects/${project.id}/settings`, { watchPaths })
      const commits = Array.from({ length: 10 }, (_, c) => ({
        ...{ id: 'e'.repeat(40), message: 'A change', added: [], removed: [] },
        modified: Array.from({ length: 48 }, (_, n) => `${'a'.repeat(1000)}${c}-${n}`),
      }))
      const push = aPush({
        repository: { full_name: 'team/app', clone_url: repositoryUrl },
        ...{ commits, head_commit: commits.at(-1) },
      })
      const { path, headers, body } = sent.github(push, { key: project.webhookSecret })
      return () => post(scene.url + path, headers, body)
    },
  },
  {
    what: 'a .dockerignore of 13,000 lines *a*b, and 3,000 files',
    async prepare(scene) {
      const files = Array.from({ length: 3000 }, (_, n) => [`files/${'a'.repeat(200)}${n}`, 'x'])
      const lines = Array.from({ length: 13_000 }, () => '*a*b')
      const project = await scene.project({
        ...Object.fromEntries(files),
        ...idle,
        '.dockerignore': lines.join('\n'),
      })
      await asWorker(scene, project)
      return () => scene.deploy(project)
    },
  },
  {
    what: 'a Dokploy import of 1.1 KB that grows to gigabytes',
    async prepare({ client }) {
      const doubled = Array.from({ length: 24 }, (_, n) => `v${n + 1} = "\${v${n}}\${v${n}}"`)
      const config = ['[variables]', `v0 = "${'x'.repeat(64)}"`, ...doubled, '[config.env]']
      const compose = 'services:\n  app:\n    image: busybox\n    environment:\n      V: ${V}\n'
      const text = JSON.stringify({ compose, config: [...config, 'V = "${v24}"'].join('\n') })
      const body = { name: 'grown', compose: Buffer.from(text).toString('base64') }
      return () => client.ask('POST', '/services/compose', { body })
    },
  },
  {
    what: 'a commit message of 30 MiB',
    async prepare(scene) {
      const project = await scene.project(idle)
      await asWorker(scene, project)
      const { path } = project.repository
      const message = join(path, 'message')
      for (let n = 0; n < 30; n++) appendFileSync(message, `${'m'.repeat(mib - 1)}\n`)
      const tree = git(path, ['rev-parse', 'main^{tree}'])
      const commit = git(path, ['commit-tree', '-F', message, tree])
      git(path, ['update-ref', 'refs/heads/main', commit])
      return () => scene.deploy(project)
    },
  },
  {
    what: '60 projects of one repository, and an unsigned delivery of 20 MiB',
    async prepare(scene) {
      const repositoryUrl = 'https://git.example.com/team/app.git'
      for (let n = 0; n < 60; n++)
        await scene.client.post('/projects', { name: `app ${n}`, repositoryUrl })
      const push = aPush({
        repository: { full_name: 'team/app', clone_url: repositoryUrl },
        padding: 'x'.repeat(20 * mib),
      })
      const { path, headers, body } = sent.github(push, { key: 'not the secret of any' })
      return () => post(scene.url + path, headers, body)
    },
  },
  {
    what: 'an image with 150 labels of 60 KB, and five looks at its container',
    async prepare(scene) {
      const image = await withLabels(150, 60 * kib)
      const project = await scene.project({ Dockerfile: `FROM ${image}\nCMD ["sleep", "9999"]\n` })
      await asWorker(scene, project)
      const key = await scene.deploy(project)
      const { containerId } = await scene.client.get<{ containerId: string | null }>(pathOf(key))
      const looks = ['/containers', '/containers/api', `/containers/${containerId}`]
      return async () => {
        for (let n = 0; n < 5; n++)
          for (const path of looks) await (await scene.client.ask('GET', path, page)).text()
        await askEngine(`/images/${image}?force=1`, { method: 'DELETE' })
      }
    },
  },
  {
    what: '20 anonymous forms of 1 MiB at once',
    async prepare({ url }) {
      const body = 'a=&'.repeat(Math.floor((mib - 100) / 3))
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      return () =>
        Promise.all(Array.from({ length: 20 }, () => post(`${url}/auth/login`, headers, body)))
    },
  },
  {
    what: 'five searches of a log of 99 MB that find nothing',
    async prepare(scene) {
      const project = await scene.project({ Dockerfile: 'FROM scratch\nNONSENSE\n' })
      const key = await scene.deploy(project)
      const text = (sequence: number) => String(sequence).padStart(100, '0')
      lengthenLog(join(scene.davit.dataDir, 'logs.db'), key.id, { last: 990_000, text })
      return async () => {
        for (let n = 0; n < 5; n++)
          await (await scene.client.ask('GET', `${pathOf(key)}/logs?search=not+there`)).text()
      }
    },
  },
]

/** Without a port, so that the gate only waits. */
const asWorker = ({ client }: Scene, project: { id: string; environmentId: string }) =>
  client.put(`/projects/${project.id}/envs/${project.environmentId}`, { port: 0 })

/** An image as a registry may have it: BuildKit itself takes minutes to make one. */
async function withLabels(count: number, size: number) {
  const name = `davit-bench-${Bun.randomUUIDv7()}`
  const labels = Array.from({ length: count }, (_, n) => [`l${n}`, 'x'.repeat(size)])
  const { Id } = (await send('/containers/create', { Image: 'busybox' })) as { Id: string }
  await send(`/commit?container=${Id}&repo=${name}`, { Labels: Object.fromEntries(labels) })
  await askEngine(`/containers/${Id}`, { method: 'DELETE' })
  return name
}

const send = async (path: string, body: object) =>
  (
    await askEngine(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json()

async function post(url: string, headers: Record<string, string>, body: string | Uint8Array) {
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
  await answer.text()
}
