import { expect, test } from 'bun:test'
import { aProject, aRepository, anApp, deployed, logOf } from './apps.ts'
import { testApp, withAda } from '../support/app.ts'

test('a repository becomes a running app that answers, and says which commit it is', async () => {
  const { t, ada } = withAda(testApp())
  const repository = aRepository(t.dataDir, anApp('first'))
  const project = (await ada.post('/projects', { name: 'site', repositoryUrl: repository.url }))
    .json

  const deployment = await deployed(ada, project.id)

  expect(deployment).toMatchObject({ status: 'running', error: null, branch: 'main' })
  expect(deployment.commit).toEqual({ hash: repository.head, author: 'Ada', message: 'A change' })
  expect(await (await fetch(deployment.url)).text()).toBe('first')
})

test('a build gets .git where the project says so, and is told of the setting where not', async () => {
  const { t, ada } = withAda(testApp())
  const files = anApp('with history')
  const project = await aProject(t, ada, {
    ...files,
    Dockerfile: `${files.Dockerfile}\nCOPY .git /www/git\nRUN rm -r /www/git/objects`,
  })
  expect(await project.deploy()).toMatchObject({ error: { code: 'git_directory_missing' } })
  const path = `/projects/${project.id}/settings`
  expect((await ada.get(path)).json.gitDirectory).toBe(false)
  const saved = await ada.htmx('PUT', path, { git_directory: '1' })
  expect(saved.text).toMatch(/name="git_directory"[^>]*checked/)
  const { status, url } = await project.deploy()
  expect(status).toBe('running')
  expect(await (await fetch(`${url}/git/HEAD`)).text()).toBe('ref: refs/heads/main\n')
})

test('what a Dockerfile exposes first is its port, whatever its base image exposes', async () => {
  const { t, ada } = withAda(testApp())
  const Dockerfile = [
    'FROM caddy:2', // it exposes 80, 443 and 2019
    'ARG SITE=public',
    'ADD ${SITE}/*.html /www/',
    'EXPOSE 8080 443',
    'CMD ["caddy", "file-server", "--root", "/www", "--listen", ":8080"]',
  ].join('\n')
  const project = await aProject(t, ada, { Dockerfile, 'public/index.html': 'added' })
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  expect(await (await fetch(deployment.url)).text()).toBe('added')
  const image = await t.deps.docker.inspectImage(deployment.image)
  expect(image!.exposedPorts.slice(0, 2)).toEqual([8080, 443])
})

test('a volume of the image that the environment doesn’t keep is named before anything starts', async () => {
  const { t, ada } = withAda(testApp())
  const Dockerfile = 'FROM busybox\nVOLUME /state /kept/\nCMD ["sleep", "999"]'
  const project = await aProject(t, ada, { Dockerfile }, { port: 0, volumes: ['kept:/kept'] })
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  const lines = await logOf(ada, deployment)
  const said = lines.filter((line) => line.includes('declares a volume'))
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('at /state.')
  expect(lines.indexOf(said[0]!)).toBeLessThan(
    lines.findIndex((line) => line.includes('Starting container')),
  )
})
