import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { buildTestImage } from '../support/images.ts'
import { execIn } from '../support/exec.ts'
import { answerOf, made, settled } from './instances.ts'

const server =
  'command: [sh, -c, "mkdir -p /www && hostname > /www/index.html && exec httpd -f -p 8081 -h /www"]'

test('a port that only the image names is published once the image is here, and kept', async () => {
  const { t, ada } = withAda(testApp())
  const tag = 'davit-test-names-its-port:1'
  await buildTestImage(t.docker, { tag, dockerfile: 'FROM busybox\nEXPOSE 8081\n' })
  const compose = `# slogan: x
services:
  web:
    image: ${tag}
    ${server}
    stop_grace_period: 1s
    environment: [SERVICE_URL_WEB]
`
  const asked = (await ada.post('/services/compose/configure', { compose })).json
  expect(asked.ports).toEqual([{ service: 'web', container: null, protocol: 'tcp', host: null }])
  const service = await made(t, ada, compose)
  expect(service).toMatchObject({ status: 'running', error: null })
  expect(service.ports).toMatchObject([{ service: 'web', container: 8081 }])
  expect(await answerOf(service)).toMatch(/^\w+/)
  await ada.put(`/services/${service.id}`, { compose: `${compose}# changed\n` })
  const changed = await settled(t, ada, service)
  expect(changed).toMatchObject({ status: 'running', ports: service.ports })
  await t.docker.removeImage(tag, { force: true })
})

test('a port that neither names ends the start with what to do', async () => {
  const t = testApp()
  const compose = `# slogan: x\nservices: {web: {image: busybox, environment: [SERVICE_URL_WEB]}}`
  const { status, error } = await made(t, t.logIn('ada@example.com'), compose)
  expect(status).toBe('failed')
  expect(error).toMatchObject({ code: 'no_port', hint: expect.stringContaining('expose') })
})

test('a directory with files of the template keeps what is written beside them', async () => {
  const { t, ada } = withAda(testApp())
  const compose = `
services:
  web:
    image: busybox
    command: [sh, -c, 'echo "$$(cat /data/conf.txt)" >> /data/log; exec sleep 999']
    init: true
    stop_grace_period: 1s
    volumes: ["../files/data:/data"]
`
  const config = '[[config.mounts]]\nfilePath = "data/conf.txt"\ncontent = "told"\n'
  const blob = (more: string) =>
    Buffer.from(JSON.stringify({ compose: compose + more, config })).toString('base64')
  const service = await made(t, ada, blob(''))
  await ada.put(`/services/${service.id}`, { compose: blob('# changed') })
  const { containers } = await settled(t, ada, service)
  const { output } = await execIn(containers[0].id, ['cat', '/data/log'])
  expect(output).toBe('told\ntold')
})

test('TCP and UDP of one port have one port of this host', async () => {
  const { ada } = withAda(testApp({}, { jobsWait: true }))
  const ports = (...entries: string[]) =>
    `services: {a: {image: b, ports: ${JSON.stringify(entries)}}}`
  const make = (name: string, compose: string, more = {}) =>
    ada.post('/services/compose', { name, compose, ...more })
  const { json } = await make('dns', ports('53:53/tcp', '53:53/udp', '54/udp'))
  const [tcp, udp, other] = json.ports
  expect([tcp.protocol, udp.protocol, tcp.host]).toEqual(['tcp', 'udp', udp.host])
  expect(other.host).not.toBe(tcp.host)
  expect((await ada.get(`/services/${json.id}`)).json.ports).toEqual(json.ports)
  const own = (await make('own', ports('28053:53/tcp', '28053:53/udp'))).json
  expect(own.ports.map(({ host }: { host: number }) => host)).toEqual([28053, 28053])
  expect((await make('taken', ports('28053:1/udp'))).status).toBe(409)
  expect((await make('two', ports('28054:1/tcp', '28054:2/udp'))).status).toBe(409)
})

test('more ports than one instance may have are refused', async () => {
  const { ada } = withAda(testApp({}, { jobsWait: true }))
  const names = Array.from({ length: 257 }, (_, at) => `SERVICE_URL_A_${at + 1}`)
  const compose = `# slogan: x\nservices: {a: {image: b, environment: [${names.join(', ')}]}}`
  const { status, json } = await ada.post('/services/compose', { name: 'x', compose })
  expect([status, json.detail]).toEqual([422, expect.stringContaining('the maximum is 256')])
})

const dangerous = `services:
  a:
    image: b
    tty: true
    volumes: ["\${DIR:-data}:/data", "/srv:/srv"]
volumes: {data: }
`

test('a danger that comes from a value can be ticked where the value was typed', async () => {
  const t = testApp({}, { jobsWait: true })
  const root = t.logInAsAdmin()
  const typed = { name: 'x', compose: dangerous, DIR: '/etc' }
  const boxes = (text: string) =>
    [...text.matchAll(/<input type="checkbox"[^>]*name="allowed"[^>]*>/g)].map(([box]) => [
      /value="([^"]*)"/.exec(box)![1],
      box.includes('checked'),
    ])
  const read = await root.htmx('POST', '/services/compose/configure', typed)
  expect(boxes(read.text)).toEqual([
    ['a host_path /etc', false],
    ['a host_path /srv', false],
  ])
  expect(read.text).toContain('services.a.tty is ignored')
  const refused = await root.form('/services/compose', { ...typed, allowed: 'a host_path /srv' })
  expect(refused.status).toBe(403)
  expect(boxes(refused.text)).toEqual([
    ['a host_path /etc', false],
    ['a host_path /srv', true],
  ])
  const eve = t.logIn('eve@example.com')
  expect(boxes((await eve.form('/services/compose', typed)).text)).toEqual([])
  const told = (await root.post('/services/compose/configure', typed)).json
  expect(told.notes).toHaveLength(1)
  const allowed = told.dangers.map(({ key }: { key: string }) => key)
  expect(allowed).toEqual(['a host_path /etc', 'a host_path /srv'])
  expect((await eve.post('/services/compose', { ...typed, allowed })).status).toBe(403)
  expect((await root.post('/services/compose', { ...typed, allowed })).status).toBe(201)
})
