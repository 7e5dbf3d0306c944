import { z } from 'zod'
import { administration } from './admin-operations.ts'
import * as containers from './container-resources.ts'
import { domain, environment, link, run, variable } from './environment-resources.ts'
import { creates, does, follows, listOf, lists, nothing, reads, works } from '../web/operation.ts'
import type { Operations } from '../web/operation.ts'
import { comparison, deployment, rollbackPreview } from './deployment-resources.ts'
import * as resource from './resources.ts'
import { services } from './service-operations.ts'
import { map } from './map-resources.ts'
import { traffic } from './traffic-resources.ts'

const { project, removal } = resource
const { jobLog, logLine, outputLine } = resource
const { repositoryList, branchList, lookedAt, refList, user, session } = resource

const projectWithSecret = project.extend({ webhookSecret: z.string().optional() })

const projects: Operations = {
  'GET /projects': lists('List your projects, newest first', project),
  'POST /projects': creates(
    'Create a project, and with deploy its first deployment',
    projectWithSecret,
  ),
  'GET /map': does(
    'Get what is connected: domains, apps and services, and what each of them needs',
    map,
  ),
  'GET /search': does(
    'Find pages, settings, documents and actions by their names; 20 of them, best first',
    resource.found,
  ),
  'GET /projects/:id': does('Get a project', project),
  'PUT /projects/:id': does('Change name, repository or branch', project),
  'GET /projects/:id/settings': does('Get the settings of a project', project),
  'PUT /projects/:id/settings': does('Change how a project is built', projectWithSecret),
  'GET /projects/:id/watched-files': does('List what watched paths match', resource.watchedFiles),
  'DELETE /projects/:id': works('Delete a project and what it runs', removal),
}

const variablesText = z.object({ text: z.string() })

const environments: Operations = {
  'GET /projects/:id/envs': lists('List the environments of a project', environment),
  'POST /projects/:id/envs': creates('Create an environment', environment),
  'GET /projects/:id/envs/:envId': does('Get an environment', environment),
  'PUT /projects/:id/envs/:envId': does('Change an environment', environment),
  'GET /projects/:id/envs/:envId/deployments': lists(
    'List the deployments of an environment, newest first',
    deployment,
  ),
  'GET /projects/:id/envs/:envId/output': reads(
    'Read or search what its containers wrote',
    resource.output,
  ),
  'GET /projects/:id/envs/:envId/output/stream': follows(
    'Follow what its containers write',
    outputLine,
  ),
  'GET /projects/:id/envs/:envId/usage': does(
    'Get the usage of its processes over the last hour, day or week, each and together',
    containers.workloadUsage,
  ),
  'GET /projects/:id/envs/:envId/metrics': does(
    'Get both its usage and its requests of the last hour, day or week',
    z.object({ usage: containers.workloadUsage, traffic }),
  ),
  'GET /envs/:envId/traffic': does(
    'Get the requests of the last hour, day or week, of all its hosts or one',
    traffic,
  ),
  'POST /envs/:envId/start': works('Start all that an environment runs', environment),
  'POST /envs/:envId/restart': works('Restart all that an environment runs', environment),
  'POST /envs/:envId/stop': works('Stop all that an environment runs', environment),
  'DELETE /projects/:id/envs/:envId': works('Delete an environment and what it runs', removal),
  'GET /envs/:envId/variables': lists('List variables; secret values are null', variable),
  'POST /envs/:envId/variables': creates(
    'Create a variable, or all those of a .env text',
    z.union([variable, z.object({ items: z.array(variable) })]),
  ),
  'GET /envs/:envId/variables/text': does(
    'Get all variables as text, without secrets',
    variablesText,
  ),
  'PUT /envs/:envId/variables': lists(
    'Set all variables by their text; others are removed',
    variable,
  ),
  'GET /envs/:envId/variables/:id': does('Get a variable', variable),
  'PUT /envs/:envId/variables/:id': does('Change a variable', variable),
  'DELETE /envs/:envId/variables/:id': does('Delete a variable', nothing),
  'GET /envs/:envId/links': lists('List the services that its app is linked to', link),
  'POST /envs/:envId/links': creates(
    'Link a service to its app, or create one and link that',
    link,
  ),
  'GET /envs/:envId/links/:id': does('Get a link', link),
  'PUT /envs/:envId/links/:id': does('Change the variables of a link', link),
  'DELETE /envs/:envId/links/:id': does('Remove a link; the service stays', nothing),
}

const ofDomains: Operations = {
  'GET /envs/:envId/domains': lists('List the domains of an environment', domain),
  'POST /envs/:envId/domains': creates('Add a domain to an environment', domain),
  'GET /services/:id/domains': lists('List the domains of a service', domain),
  'POST /services/:id/domains': creates('Add a domain to a service', domain),
  'GET /domains/:id': does('Get a domain', domain),
  'PUT /domains/:id': does(
    'Change a domain; a user name without a password keeps the one it has',
    domain,
  ),
  'DELETE /domains/:id': does('Delete a domain', nothing),
  'POST /domains/:id/check': does('Check its DNS again, and request its certificate', domain),
}

const oneRun = '/envs/:envId/runs/:id'

const ofRuns: Operations = {
  'GET /envs/:envId/runs': lists('List runs, newest first', run),
  'POST /envs/:envId/runs': creates(
    'Run a command in a new container of the live image; with attach it waits for a client, at most 60 s',
    run,
  ),
  [`GET ${oneRun}`]: does('Get a run', run),
  [`GET ${oneRun}/status`]: does('Get a run; an alias', run),
  [`GET ${oneRun}/logs`]: reads('Read, search or follow its log', jobLog, logLine),
  [`GET ${oneRun}/attach`]: does(
    'Attach over a WebSocket of bytes, with {"resize":[80,24]} as text; at the end it says {"ended":"…","exitCode":0}. Input and a terminal are only for a run that was started with attach. Without a handshake: get the run',
    run,
  ),
  [`POST ${oneRun}/cancel`]: works('Cancel a run that has not ended', run),
}

const oneDeployment = '/projects/:id/deployments/:deploymentId'

const deployments: Operations = {
  'GET /projects/:id/deployments/:deploymentId/compare': does(
    'Compare a deployment with the live one of its environment',
    comparison,
  ),
  'GET /projects/:id/deployments': lists('List deployments, newest first', deployment),
  'POST /projects/:id/deployments': creates('Deploy', deployment),
  'POST /projects/:id/deploy': creates('Deploy; an alias', deployment),
  [`GET ${oneDeployment}`]: does('Get a deployment', deployment),
  [`GET ${oneDeployment}/status`]: does('Get a deployment; an alias', deployment),
  [`GET ${oneDeployment}/rollback`]: does(
    'Preview what a rollback to this deployment would change',
    rollbackPreview,
  ),
  [`POST ${oneDeployment}/rollback`]: creates(
    'Roll back to this deployment, with the current variables or those of its release',
    deployment,
  ),
  [`POST ${oneDeployment}/cancel`]: works('Cancel a deployment that has not ended', deployment),
  [`GET ${oneDeployment}/logs`]: reads('Read, search or follow its log', jobLog, logLine),
}

const { container, containerDetails, containerLine, containerList } = containers

const ofContainers: Operations = {
  'GET /containers': lists('List containers: yours, or as an admin all', container),
  'GET /containers/api': does('List all of them at once', containerList),
  'GET /containers/events': follows('Follow the list', containerList),
  'GET /containers/:id': does('Get a container', containerDetails),
  'GET /containers/:id/stats': follows('Follow its usage, every 2 s', containers.containerUsage),
  'GET /containers/:id/logs': reads(
    'Read the last lines, search or follow them',
    z.object({ items: z.array(containerLine), nextCursor: z.string().nullable().optional() }),
    containerLine,
  ),
  'GET /containers/:id/terminal': does(
    'Open a shell over a WebSocket of bytes, with {"resize":[80,24]} as text; without a handshake: check whether it is allowed',
    containers.terminal,
  ),
  'GET /containers/:id/usage': does(
    'Get its usage over the last hour, day or week',
    containers.containerHistory,
  ),
  'POST /containers/:id/stop': works('Stop a container', containerDetails),
  'POST /containers/:id/restart': works('Restart a container, or start it', containerDetails),
}

const ofSource = '/api/git/sources/:sourceId/repos'

const git: Operations = {
  'GET /api/git/repos': does('List the repositories of a source', repositoryList),
  'GET /api/git/look': does('Look at the repository of an address', lookedAt),
  'GET /api/git/branches': does('List branches, of a source or of an address', branchList),
  [`GET ${ofSource}`]: does('List the repositories of a source', repositoryList),
  [`GET ${ofSource}/:owner/:repo/branches`]: does('List branches', branchList),
  [`GET ${ofSource}/:owner/:repo/tags`]: does('List tags', refList),
}

const deployed = z.object({ deployments: z.array(deployment) })
const shownSecret = z.object({ webhookSecret: z.string() })

const receives = (provider: string) => ({
  summary: `Receive a push from ${provider}`,
  body: z.looseObject({}),
  answers: { 200: deployed.extend({ reason: z.string().nullable() }), 202: deployed },
})

const webhooks: Operations = {
  'GET /projects/:id/webhook': does('Get the webhook from the provider', resource.webhook),
  'POST /projects/:id/webhook': creates('Create the webhook at the provider', resource.webhook),
  'DELETE /projects/:id/webhook': does('Delete the webhook at the provider', resource.webhook),
  'POST /projects/:id/webhook-secret': does('Replace the webhook secret and show it', shownSecret),
  'POST /projects/:id/webhook-secret/show': does('Show the webhook secret, once', shownSecret),
  'GET /projects/:id/deliveries': does('List webhook deliveries', resource.deliveryList),
  'POST /projects/:id/deliveries/:deliveryId/replay': creates('Replay a delivery', deployed),
  'POST /webhooks/github': receives('GitHub'),
  'POST /webhooks/gitlab': receives('GitLab'),
  'POST /webhooks/gitea': receives('Gitea or Forgejo'),
}

const sessions = listOf(session)

const accounts: Operations = {
  'POST /auth/register': creates('Create an account, and log in', user),
  'POST /auth/login': does('Log in; sets the session cookie', user),
  'POST /auth/logout': does('Log out', nothing),
  'GET /settings/profile': does('Get your profile', user),
  'PUT /settings/profile': does('Change your e-mail address or name', user),
  'PUT /settings/password': does('Change your password; ends your other sessions', user),
  'GET /settings/sessions': does('List your sessions', sessions),
  'DELETE /settings/sessions': does('End all other sessions', sessions),
  'DELETE /settings/sessions/:id': does(
    'End a session; ending your own returns an empty response',
    z.union([sessions, nothing]),
  ),
  'POST /settings/identities': does(
    'Start linking a login of the git host; open the URL in a browser',
    z.object({ url: z.url() }),
  ),
  'DELETE /settings/identities/:id': does('Unlink a login of the git host', nothing),
}

const health: Operations = {
  'GET /health': does('Check that Davit runs', resource.health),
  'GET /health/ready': {
    summary: 'Check that Davit can work',
    answers: { 200: resource.readiness, 503: resource.readiness },
  },
  'GET /docs': does(
    'List the documents, or with q the sections that have its words',
    resource.docs,
  ),
  'GET /docs/:name': does('Get a document, with its Markdown', resource.document),
  'GET /api/openapi.json': does('Get this document', z.looseObject({ openapi: z.string() })),
}

const part = (name: string, description: string, operations: Operations = {}) => ({
  name,
  description,
  operations,
})

export const parts = [
  part('Projects', 'A repository, and how it is built.', projects),
  part('Environments', 'Where a project runs, and with which variables.', environments),
  part('Domains', 'Names that lead to apps and services, and how they are served.', ofDomains),
  part('Deployments', 'From a commit to running containers.', deployments),
  part('Runs', 'One-off commands in new containers of the live image.', ofRuns),
  part('Services', 'Databases and other software from the catalog or a file.', services),
  part('Containers', 'What runs, its log and its usage.', ofContainers),
  part('Git', 'Git hosts, their repositories and branches.', git),
  part('Webhooks', 'Pushes that git hosts report.', webhooks),
  part('Registries', 'Logins for private images.'),
  part('Accounts', 'Your login, profile and tokens.', accounts),
  part('Administration', 'All users, the audit log and the disk.', administration),
  part('Health', 'The server itself.', health),
]
