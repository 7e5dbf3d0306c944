import { expect, test } from 'bun:test'
import { portOf } from '../../src/deployments/components.ts'
import type { Environment } from '../../src/environments/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { aCommand, answerOf, aProject } from './apps.ts'

test('an app has its restart policy only once it is through the gate', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, aCommand('sleep 9999'))
  const policyOf = (id: string) => t.engine.container(id).policy.name
  const policies: string[] = []
  t.faults.startContainer = (id, ...rest) => {
    policies.push(policyOf(id))
    return t.docker.startContainer(id, ...rest)
  }
  const { containerId } = await project.deploy()
  expect([...policies, policyOf(containerId)]).toEqual(['no', 'unless-stopped'])
})

test('an image that must be process 1 is, recognised or by a setting, and so are its commands', async () => {
  const { t, ada } = withAda(testApp())
  const files = (entrypoint: string) => ({
    init: '#!/bin/sh\n[ $$ = 1 ] || exit 100\n"$@"\n',
    start: '#!/bin/sh\nexec /init "$@"\n',
    Dockerfile: [
      'FROM busybox',
      'COPY --chmod=755 init start /',
      `ENTRYPOINT ["${entrypoint}"]`,
      'CMD ["sleep", "9999"]',
    ].join('\n'),
  })
  const web = { name: 'web', stopSeconds: 1 }
  const worker = { name: 'worker', command: 'sleep 999', stopSeconds: 1 }
  const settings = { port: 0, processes: [web, worker], releaseCommand: 'true' }
  const project = await aProject(t, ada, files('/init'), settings)
  expect(await project.deploy()).toMatchObject({ status: 'running' })

  expect((await project.deployFiles(files('/start'))).error.code).toBe('exited')
  const processes = [web, worker].map((process) => ({ ...process, init: false }))
  await project.configure({ processes })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
})

test('a PORT of the user wins, and one that says nothing of the port is refused wherever it is saved', async () => {
  const { t, ada } = withAda(testApp())
  const script = 'mkdir /www; echo "$PORT" >/www/port; exec httpd -f -p $PORT -h /www'
  const project = await aProject(t, ada, aCommand(script), { port: 3000 })
  const variables = `/envs/${project.environmentId}/variables`
  const settings = `/projects/${project.id}/envs/${project.environmentId}`
  const { json: variable } = await project.set({ key: 'PORT', value: '9090' })
  const deployment = await project.deploy()
  expect(deployment.status).toBe('running')
  expect(await answerOf({ url: `${deployment.url}/port` })).toBe('9090\n')

  const value = '0.0.0.0:8080'
  const refusals = [
    () => ada.put(`${variables}/${variable.id}`, { value }),
    () => ada.put(`${variables}/${variable.id}`, { value, secret: true }),
    () => ada.post(variables, { dotenv: `PORT=${value}` }),
    () => ada.put(variables, { text: `PORT=${value}` }),
  ]
  for (const refused of refusals) expect((await refused()).status).toBe(422)
  await project.configure({ port: 8080 })
  expect((await ada.put(`${variables}/${variable.id}`, { value })).status).toBe(200)
  expect((await ada.put(settings, { port: 3000 })).json.errors).toMatchObject([{ field: 'port' }])
  expect((await ada.put(settings, { port: 0 })).status).toBe(200)
  expect((await ada.put(settings, { port: null })).status).toBe(422)
})

test('variables reach the app byte for byte, and PORT is where it is asked', async () => {
  const { t, ada } = withAda(testApp())
  const values = {
    LINES: 'one\ntwo\n\nfour ',
    SHELL_WORDS: `$HOME \${PATH} \`id\` $(id) "double" 'single' \\ back\\slash; & | > #`,
    UNICODE: 'ü € 𝄞 \u202e عربى',
    EMPTY: '',
    EQUALS: 'a=b=c',
  }
  const script = 'mkdir /www; cp /proc/self/environ /www/env; exec httpd -f -p $PORT -h /www'
  const project = await aProject(t, ada, aCommand(script), { port: 5123 })
  for (const [key, value] of Object.entries(values))
    expect((await project.set({ key, value, secret: key === 'LINES' })).status).toBe(201)

  const deployment = await project.deploy()

  expect(deployment.status).toBe('running')
  const environ = await answerOf({ url: `${deployment.url}/env` })
  const seen = Object.fromEntries(
    environ
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  expect(seen).toMatchObject({ ...values, PORT: '5123' })
})

test('the port is the one of PORT, else of the environment, else of the first EXPOSE, else 3000', () => {
  const web = { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null }
  const portFor = ({ port = null, PORT, exposed = [] }: Wish) =>
    portOf(
      {
        environment: { port, processes: [web] } as Environment,
        variables: PORT === undefined ? [] : [{ key: 'PORT', value: PORT }],
      },
      { exposedPorts: exposed },
    )
  expect(portFor({ port: 5050, PORT: '6060', exposed: [9090] })).toBe(6060)
  expect(portFor({ port: 5050, exposed: [9090] })).toBe(5050)
  expect(portFor({ port: 0, PORT: 'any', exposed: [9090] })).toBe(0)
  expect(portFor({ PORT: '6060', exposed: [9090, 70] })).toBe(6060)
  expect(portFor({ port: 8080, PORT: '0.0.0.0:8080', exposed: [70] })).toBe(8080)
  for (const PORT of ['', '0', '08', '70000', 'http', '80.5', '-1', ' 80', '0x50', '0.0.0.0:8080'])
    for (const port of [null, 3000])
      expect(() => portFor({ PORT, port, exposed: [9090, 70] })).toThrow('PORT must be a port')
  expect(portFor({})).toBe(3000)
})

type Wish = { port?: number | null; PORT?: string; exposed?: number[] }
