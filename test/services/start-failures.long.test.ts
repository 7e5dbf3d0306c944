import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { idle, leftOf, made } from './instances.ts'

test('a health check is run when its file says, and not before', async () => {
  const { t, ada } = withAda(testApp())
  const check = 'test -f /tmp/ready || { touch /tmp/early; exit 1; }'
  const service = await made(
    t,
    ada,
    `
services:
  a:
    image: busybox
    command: [sh, -c, 'sleep 2; touch /tmp/ready; exec sleep 999']
    stop_grace_period: 1s
    healthcheck: {test: [CMD-SHELL, "${check}"], interval: 5s}`,
  )
  expect(service).toMatchObject({ status: 'running', error: null })
  const [{ id }] = service.containers
  expect((await execIn(id, ['ls', '/tmp'])).output.trim()).toBe('ready')
})

test.each([
  {
    what: 'a container that exits at once',
    compose: `services: {a: {image: busybox, command: [sh, -c, 'echo no licence; exit 3'], volumes: [data:/data]}}
volumes: {data: {}}`,
    error: { step: 'starting', code: 'exited', message: /^Start failed: a exited with code 3\.$/ },
    hint: /no licence/,
  },
  {
    what: 'a health check that never passes',
    compose: `services: {a: {image: busybox, command: [sh, -c, 'echo not ready; exec sleep 99'], init: true, stop_grace_period: 1s, healthcheck: {test: [CMD, "false"], interval: 200ms, retries: 2}}}`,
    error: { step: 'starting', code: 'unhealthy', message: /health check of a doesn’t pass/ },
    hint: /not ready/,
  },
  {
    what: 'a health check that says why it fails',
    compose: `services: {a: {image: busybox, command: [sleep, "99"], init: true, stop_grace_period: 1s, healthcheck: {test: "echo no quorum; exit 1", interval: 200ms, retries: 2}}}`,
    error: {
      step: 'starting',
      code: 'unhealthy',
      message: /health check of a doesn’t pass \(no quorum\)\.$/,
    },
    hint: /The health check says:\nno quorum$/,
  },
  {
    what: 'a container that is killed by someone else',
    compose: `services: {a: {image: busybox, command: [sh, -c, 'kill -9 $$$$']}}`,
    error: { step: 'starting', code: 'killed', message: /killed .* not for its memory/ },
    hint: /docker kill/,
  },
  {
    what: 'a command that is not in the image',
    compose: `services: {a: {image: busybox, init: false, command: [nothing-of-this-name]}}`,
    error: {
      step: 'starting',
      code: 'command_not_found',
      message: /nothing-of-this-name isn’t in the image/,
    },
    hint: /command/,
  },
  {
    what: 'a one-shot that others wait for and that fails',
    compose: `services: {a: {${idle}, depends_on: {b: {condition: service_completed_successfully}}}, b: {image: busybox, command: ["false"]}}`,
    error: { step: 'starting', code: 'exited', message: /^Start failed: b exited with code 1/ },
    hint: /wrote nothing/,
  },
])('$what ends the start with a reason, and nothing is left', async ({ compose, error, hint }) => {
  const t = testApp({}, { config: { settleTime: 60_000 } })
  const service = await made(t, t.logIn('ada@example.com'), compose)
  expect(service.status).toBe('failed')
  expect(service.error).toMatchObject({
    ...error,
    message: expect.stringMatching(error.message),
    hint: expect.stringMatching(hint),
  })
  expect(await leftOf(t, service)).toEqual({ containers: [], networks: [], volumes: [] })
})
