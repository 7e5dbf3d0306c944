import { expect, test } from 'bun:test'
import { labelsFor } from '../../src/docker/labels.ts'
import { variable } from '../../src/services/compose/variables.ts'
import { updateService } from '../../src/services/store.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { collect, linesUntil, written } from '../logs/collecting.ts'
import type { Line } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { tarContext } from '../support/images.ts'
import { idle, made } from './instances.ts'

const make = (image: string, more = '') =>
  `services: {a: {image: "${image}", command: [sleep, "999"], stop_grace_period: 1s${more}}}`

test('B6: an image whose host comes with the address is refused too', async () => {
  const t = testApp()
  const compose = make('${DAVIT_HOST:+10.0.0.5:5000/}x', ', ports: ["80"]')
  const ada = t.logIn('ada@example.com')
  const { status, text } = await ada.post('/services/compose', { name: 'x', compose })
  expect(status).toBe(422)
  expect(text).toContain('10.0.0.5')
})

test('D7: ports that come with the address are refused: no one has looked at them', async () => {
  const t = testApp()
  const compose = make('busybox', ', ports: ["${DAVIT_HOST:+24567:}8${DAVIT_HOST:+1}"]')
  const ada = t.logIn('ada@example.com')
  const { status, text } = await ada.post('/services/compose', { name: 'x', compose })
  expect(status).toBe(422)
  expect(text).toContain('DAVIT_HOST')
})

test('D7: the port of an app is no one else’s, even while the app does not run', async () => {
  const { t, ada } = withAda(testApp())
  const project = await ada.post('/projects', {
    name: 'app',
    repositoryUrl: 'https://example.com/app.git',
  })
  const [environment] = (await ada.get(`/projects/${project.json.id}/envs`)).json.items
  const compose = make('busybox', `, ports: ["${environment.hostPort}:80"]`)
  const bob = t.logIn('bob@example.com')
  expect((await bob.post('/services/compose', { name: 'x', compose })).status).toBe(409)
})

test('an image is used by its name only: the beginning of an id may be anybody’s', async () => {
  const { t, ada } = withAda(testApp())
  const { id } = (await t.docker.inspectImage('busybox'))!
  for (const image of [id, id.slice('sha256:'.length), id.slice(7, 19)])
    expect(await made(t, ada, make(image), { name: image.slice(0, 60) })).toMatchObject({
      status: 'failed',
      error: { step: 'pulling' },
    })
})

test('what an app was built into is its owner’s alone', async () => {
  const { t, ada } = withAda(testApp())
  const bob = t.logIn('bob@example.com')
  const tag = `davit/${crypto.randomUUID()}:1`
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  await build(t, { tag, ownerId: ada.user.id, projectId: project.id })
  expect(await made(t, bob, make(tag))).toMatchObject({ status: 'failed' })
  expect(await made(t, ada, make(tag))).toMatchObject({ status: 'running' })
})

test('a variable may have the name of what every object has', async () => {
  const { ada } = withAda(testApp())
  const compose = `services: {a: {${idle}, environment: {A: "$constructor", B: "$toString"}}}`
  const fields = { name: 'x', compose }
  expect((await ada.form('/services/compose/configure', fields)).status).toBe(200)
  const again = await ada.form('/services/compose', { ...fields, host_port: '80' })
  expect(again.status).toBe(422)
  expect(again.text).not.toContain('native code')
})

test('I1: a secret that was changed stays hidden in the log of the container that still has it', async () => {
  const { t, ada } = withAda(testApp())
  const compose = `services: {a: {image: busybox, init: true, command: [sh, -c, 'echo "it is $$THE_TOKEN"; sleep 999'], environment: {THE_TOKEN: "$THE_TOKEN"}, stop_grace_period: 1s}}`
  const { id, containers } = await made(t, ada, compose, { THE_TOKEN: 'hunter2-before' })
  const values = new Map([['THE_TOKEN', 'hunter2-after']])
  const variables = new Map([['THE_TOKEN', variable('THE_TOKEN', { secret: true })]])
  updateService(t.db, id, sealValues(t, { id, values, file: { variables } }))
  collect(t)
  const isWritten = ({ stream }: Line) => stream === 'stdout'
  await linesUntil(ada, `/services/${id}/output`, isWritten)
  const { json } = await ada.get(`/containers/${containers[0].id}/logs?tail=10`)
  expect(written(json.items)).toEqual(['it is ***'])
})

async function build(
  { docker, instanceId }: TestApp,
  { tag, ...of }: { tag: string; ownerId: string; projectId: string },
) {
  const labels = labelsFor({ instanceId, kind: 'build', ...of })
  const context = tarContext({ Dockerfile: 'FROM busybox:latest\nRUN echo code > /app\n' })
  const options = { context, dockerfile: 'Dockerfile', tag, labels }
  for await (const _ of docker.buildImage(options)) continue
}

test('no label of a file or an image reaches Docker as another program would obey it', async () => {
  const { t, ada } = withAda(testApp())
  const image = `davit-test-labels:${crypto.randomUUID().slice(0, 8)}`
  const context = tarContext({
    Dockerfile: 'FROM busybox\nLABEL ofelia.enabled=true org.opencontainers.image.title=x\n',
  })
  const output = t.docker.buildImage({ context, dockerfile: 'Dockerfile', tag: image })
  for await (const _ of output) continue
  try {
    const labels = ', labels: {traefik.enable: "true", com.centurylinklabs.watchtower.enable: x}'
    const { id } = await made(t, ada, make(image, labels))
    const [container] = await t.docker.listContainers({ labels: [`davit.service=${id}`] })
    const set = Object.entries(container!.labels).filter(([key]) => !key.startsWith('davit.'))
    expect(Object.fromEntries(set)).toEqual({
      'label.traefik.enable': 'true',
      'label.com.centurylinklabs.watchtower.enable': 'x',
      'ofelia.enabled': '',
      'org.opencontainers.image.title': 'x',
    })
  } finally {
    await t.docker.removeImage(image, { force: true })
  }
})
