import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { planContainers } from '../../src/services/compose/containers.ts'
import { readTemplate, samplesOf, stackOf } from '../../src/services/compose/template.ts'
import { withImageVolumes } from '../../src/services/image-volumes.ts'
import { testApp, withAda } from '../support/app.ts'
import { buildTestImage } from '../support/images.ts'
import { stackFrom } from './compose/stack.ts'
import { leftOf, made, settled } from './instances.ts'

const id = '0198c0de-0000-7000-8000-00000000cafe'

/** The volumes of each container, where an image declares these. */
function volumesOf(stack: ReturnType<typeof stackFrom>, declared: (image: string) => string[]) {
  const planned = planContainers(stack, { id, name: 'x', publishAddress: '127.0.0.1' })
  const pulled = planned.map((component) => ({
    ...component,
    image: { exposedPorts: [], volumes: declared(component.options.image) },
  }))
  return withImageVolumes(pulled, { id, services: stack.services }).map(({ name, options }) => ({
    name,
    volumes: options.volumes!,
  }))
}

test('data outlives the container where only the image declares a volume', async () => {
  const { t, ada } = withAda(testApp())
  const tag = 'davit-test-declares-volumes:1'
  await buildTestImage(t.docker, { tag, dockerfile: 'FROM busybox\nVOLUME /state /own/\n' })
  const compose = (mode: string) => `
services:
  web:
    image: ${tag}
    init: true
    command: [sh, -c, 'echo ${mode} >> /state/log; echo ${mode} >> /own/log; exec sleep 999']
    volumes: [own:/own]
    stop_grace_period: 1s
volumes: { own: {} }
`
  const service = await made(t, ada, compose('first'))
  expect(service).toMatchObject({ status: 'running', error: null })
  const preview = { compose: compose('second'), preview: true }
  const { volumes } = (await ada.put(`/services/${service.id}`, preview)).json
  expect(volumes).toEqual([
    `davit-${service.id}-own`,
    expect.stringMatching(/-web-state-[0-9a-f]{8}$/),
  ])
  await ada.put(`/services/${service.id}`, { compose: compose('second') })
  const changed = await settled(t, ada, service)
  expect(changed).toMatchObject({ status: 'running', error: null })
  const command = ['cat', '/state/log', '/own/log']
  const { output } = await t.docker.runInContainer(changed.containers[0].id, { command })
  expect(output.trim().split('\n')).toEqual(['first', 'second', 'first', 'second'])

  await ada.delete(`/services/${service.id}?volumes=true`)
  await t.jobs.idle()
  expect(await leftOf(t, service)).toMatchObject({ volumes: [] })
  await t.docker.removeImage(tag, { force: true })
})

test('each has a name that no other has, and none where something is mounted', () => {
  const stack = stackFrom(`
services:
  a: { image: x, volumes: [a-b:/c, '/anonymous'], tmpfs: [/t] }
  a-b: { image: x, volumes_from: ['a:ro'] }
volumes: { a-b: {} }
`)
  const declared = ['/c', '/b/c', '/b-c', '/c/', '/t', '/anonymous/', '/deep', '/', 'relative', '']
  const [a, ab] = volumesOf(stack, () => declared)
  const own = a!.volumes.slice(2)
  expect(own.map(({ path }) => path)).toEqual(['/b/c', '/b-c', '/deep'])
  const names = [...a!.volumes, ...ab!.volumes].map(({ name }) => name)
  // the second takes over all that the first has, read-only, and has the rest of its own
  expect(new Set(names).size).toBe(names.length - 5)
  expect(ab!.volumes.filter(({ readOnly }) => readOnly)).toHaveLength(5)
  expect(ab!.volumes.filter(({ readOnly }) => !readOnly).map(({ path }) => path)).toEqual(['/t'])
})

/** What the images of the catalogue declare, as far as their Dockerfiles say. */
const declarations: [RegExp, string[]][] = [
  [/^postgres:|immich-app\/postgres:/, ['/var/lib/postgresql/data']],
  [/^(mysql|mariadb):/, ['/var/lib/mysql']],
  [/^(redis|valkey\/valkey):/, ['/data']],
  [/^mongo:/, ['/data/configdb', '/data/db']],
  [/^rabbitmq:/, ['/var/lib/rabbitmq']],
  [/^minio\//, ['/data']],
  [/^ghost:/, ['/var/lib/ghost/content']],
  [/^(wordpress|nextcloud):/, ['/var/www/html']],
  [/^gitea\//, ['/etc/gitea', '/var/lib/gitea']],
  [/^vaultwarden\//, ['/data']],
  [/^louislam\/uptime-kuma:/, ['/app/data']],
  [/^clickhouse\//, ['/var/lib/clickhouse']],
  [/^directus\//, ['/directus/database', '/directus/extensions', '/directus/uploads']],
]

test('what the images of the catalogue declare is mounted by its template, or gets a name', async () => {
  const directory = join(import.meta.dir, '../../src/services/templates')
  const seen = new Set<RegExp>()
  const added: string[] = []
  const declared = (image: string) => {
    const found = declarations.find(([pattern]) => pattern.test(image))
    if (found) seen.add(found[0])
    return found?.[1] ?? []
  }
  for (const file of [...new Bun.Glob('*.yaml').scanSync(directory)].toSorted()) {
    const template = readTemplate(await Bun.file(join(directory, file)).text(), { file })
    const stack = stackOf(template, samplesOf(template))
    for (const { name, volumes } of volumesOf(stack, declared)) {
      const { image, volumes: own } = stack.services.get(name)!
      const paths = volumes.map(({ path }) => path)
      expect([file, paths]).toEqual([file, expect.arrayContaining(declared(image))])
      added.push(...volumes.slice(own.length).map(({ path }) => `${file} ${path}`))
    }
  }
  expect(seen.size).toBe(declarations.length)
  expect(added).toEqual(['directus.yaml /directus/database'])
})
