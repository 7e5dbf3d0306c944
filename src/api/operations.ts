import { z } from 'zod'
import { loginForm, passwordForm, profileForm, registerForm, tokenForm } from '../accounts/forms.ts'
import { grantForm, userRemovalForm, userUpdateForm } from '../admin/forms.ts'
import type { Config } from '../config.ts'
import { containerLogQuery } from '../containers/log-forms.ts'
import { usageQuery } from '../containers/usage/sample-history.ts'
import { triggerForm } from '../deployments/trigger.ts'
import {
  environmentForm,
  environmentUpdateForm,
  variableForm,
  variableUpdateForm,
} from '../environments/forms.ts'
import { branchesQuery, repositoriesQuery, sourceForm } from '../git/forms.ts'
import { jobLogQuery, logQuery, logStreamQuery } from '../logs/forms.ts'
import { buildForm, projectForm, projectUpdateForm, removalForm } from '../projects/forms.ts'
import { registryForm } from '../registries/add.ts'
import { pageQuery } from '../web/paging.ts'
import { streamQuery } from '../web/query.ts'
import { operationsOf } from './operation.ts'
import type { Operation } from './operation.ts'
import { services } from './service-operations.ts'
import { cleanUps } from './prune.ts'
import * as admin from './admin-resources.ts'
import * as resource from './resources.ts'
import { containerHistory, containerUsage } from './usage-resources.ts'

/** Everything that programs can ask for, with the schemas that check what they send. */
export const operations = (config: Config): Operation[] => [
  ...projects(config),
  ...environments(),
  ...deployments(config),
  ...services(),
  ...containers(),
  ...git(config),
  ...registries(config),
  ...cleanUps(),
  ...accounts(),
]

function projects(config: Config) {
  const { get, post, put, remove, list } = operationsOf('Projects')
  const answer = resource.project
  const withSecret = answer.extend({ webhookSecret: z.string().optional() })
  return [
    list('/projects', 'List your projects, newest first', answer, pageQuery),
    post('/projects', 'Create a project; deploys nothing yet', {
      body: projectForm(config),
      answer: withSecret,
      created: true,
    }),
    get('/projects/:id', 'Look at a project', { answer }),
    put('/projects/:id', 'Change name, repository or branch', {
      body: projectUpdateForm(config),
      answer,
    }),
    get('/projects/:id/settings', 'Look at the settings of a project', { answer }),
    put('/projects/:id/settings', 'Change how it is built', {
      body: buildForm,
      answer: withSecret,
    }),
    get('/projects/:id/webhook', 'Ask the provider whether the webhook is there', {
      answer: resource.webhook,
    }),
    post('/projects/:id/webhook', 'Register the webhook through the provider', {
      answer: resource.webhook,
      created: true,
    }),
    remove('/projects/:id/webhook', 'Remove the webhook at the provider', {
      answer: resource.webhook,
    }),
    remove('/projects/:id', 'Delete a project and what it runs; says what went', {
      query: removalForm,
      answer: resource.removal,
    }),
  ]
}

function environments() {
  const { get, post, put, remove, list } = operationsOf('Environments')
  const { environment, variable } = resource
  return [
    list('/projects/:id/envs', 'List the environments of a project', environment, pageQuery),
    post('/projects/:id/envs', 'Add an environment', {
      body: environmentForm,
      answer: environment,
      created: true,
    }),
    get('/projects/:id/envs/:envId', 'Look at an environment', { answer: environment }),
    put('/projects/:id/envs/:envId', 'Change an environment', {
      body: environmentUpdateForm,
      answer: environment,
    }),
    get('/projects/:id/envs/:envId/output', 'Read or search what its containers wrote', {
      query: logQuery,
      answer: resource.listOf(resource.outputLine).extend(resource.outputExtent),
    }),
    get('/projects/:id/envs/:envId/output/stream', 'Follow what its containers write', {
      query: logStreamQuery,
      answer: resource.outputLine,
      streams: true,
    }),
    remove('/projects/:id/envs/:envId', 'Delete an environment and what it runs', {
      answer: resource.removal,
    }),
    list(
      '/envs/:envId/variables',
      'List variables; secret values stay hidden',
      variable,
      pageQuery,
    ),
    post('/envs/:envId/variables', 'Add a variable, or those of a .env text', {
      body: variableForm,
      answer: z.union([variable, z.object({ items: z.array(variable) })]),
      created: true,
    }),
    get('/envs/:envId/variables/:id', 'Look at a variable', { answer: variable }),
    put('/envs/:envId/variables/:id', 'Change a variable', {
      body: variableUpdateForm,
      answer: variable,
    }),
    remove('/envs/:envId/variables/:id', 'Delete a variable'),
  ]
}

function deployments(config: Config) {
  const { get, post, list } = operationsOf('Deployments')
  const answer = resource.deployment
  const started = { body: triggerForm(config), answer, created: true }
  const path = '/projects/:id/deployments/:deploymentId'
  return [
    list('/projects/:id/deployments', 'List deployments, newest first', answer, pageQuery),
    post('/projects/:id/deployments', 'Deploy', started),
    post('/projects/:id/deploy', 'Deploy; another name of the same', started),
    get(path, 'Look at a deployment', { answer }),
    get(`${path}/status`, 'Ask for its state', { answer }),
    post(`${path}/rollback`, 'Deploy the image of this one again', { answer, created: true }),
    post(`${path}/cancel`, 'Cancel a deployment that has not ended', { answer }),
    get(`${path}/logs`, 'Read its log: a page, a search, a download, or with format a stream', {
      query: jobLogQuery,
      answer: resource.listOf(resource.logLine),
      streams: true,
    }),
  ]
}

function registries(config: Config) {
  const { get, post, remove, list } = operationsOf('Registries')
  const answer = resource.registry
  return [
    list('/settings/registries', 'List your private registries', answer, pageQuery),
    post('/settings/registries', 'Add a registry; the engine logs in there first', {
      body: registryForm(config),
      answer,
      created: true,
    }),
    get('/settings/registries/:id', 'Look at a registry', { answer }),
    remove('/settings/registries/:id', 'Remove a registry'),
  ]
}

function containers() {
  const { get, post, list } = operationsOf('Containers')
  const { container, containerDetails } = resource
  const listed = z.object({ containers: z.array(container) })
  return [
    list('/containers', 'List containers: yours, or as an admin all', container, pageQuery),
    get('/containers/api', 'List them all at once', { answer: listed }),
    get('/containers/events', 'Follow the list; with format json it comes as JSON', {
      query: streamQuery,
      answer: listed,
      streams: true,
    }),
    get('/containers/:id', 'Look at a container', { answer: containerDetails }),
    get('/containers/:id/stats', 'Follow what it uses, every 2 s; with format json as JSON', {
      query: streamQuery,
      answer: containerUsage,
      streams: true,
    }),
    get('/containers/:id/logs', 'Read the last lines; with format json follow them as JSON', {
      query: containerLogQuery,
      answer: z.object({ items: z.array(resource.containerLine) }),
    }),
    get('/containers/:id/usage', 'Look at what it used over the last hour, day or week', {
      query: usageQuery,
      answer: containerHistory,
    }),
    post('/containers/:id/stop', 'Stop a container', { answer: containerDetails }),
    post('/containers/:id/restart', 'Restart a container, or start it', {
      answer: containerDetails,
    }),
  ]
}

function git(config: Config) {
  const { get, post, remove, list } = operationsOf('Git')
  const { source, checkedSource, delivery, lookupOf, repository, ref } = resource
  const ofSource = '/api/git/sources/:sourceId/repos'
  return [
    list('/settings/git', 'List your git sources', source, pageQuery),
    post('/settings/git', 'Add a source; the provider is asked whose token it is', {
      body: sourceForm(config),
      answer: checkedSource,
      created: true,
    }),
    get('/settings/git/:id', 'Ask the provider what the token of a source may do now', {
      answer: checkedSource,
    }),
    remove('/settings/git/:id', 'Remove a source'),
    get('/api/git/repos', 'List repositories of a source', {
      query: repositoriesQuery,
      answer: lookupOf(repository),
    }),
    get('/api/git/branches', 'List branches, of a source or of an address', {
      query: branchesQuery,
      answer: lookupOf(ref),
    }),
    get(ofSource, 'List repositories of a source', { answer: lookupOf(repository) }),
    get(`${ofSource}/:owner/:repo/branches`, 'List branches', { answer: lookupOf(ref) }),
    get(`${ofSource}/:owner/:repo/tags`, 'List tags', { answer: lookupOf(ref) }),
    list('/projects/:id/deliveries', 'List what webhooks delivered', delivery, pageQuery),
    post('/projects/:id/deliveries/:deliveryId/replay', 'Decide on a delivery again', {
      answer: z.object({ deployments: z.array(resource.deployment) }),
      created: true,
    }),
    post('/projects/:id/webhook-secret/show', 'Show the webhook secret, once', {
      answer: z.object({ webhookSecret: z.string() }),
    }),
    post('/projects/:id/webhook-secret', 'Make a new webhook secret; it is shown this once', {
      answer: z.object({ webhookSecret: z.string() }),
    }),
  ]
}

function accounts() {
  const { get, post, put, remove, list } = operationsOf('Accounts')
  const { user, token, session } = resource
  return [
    post('/auth/register', 'Make an account', { body: registerForm, answer: user, created: true }),
    post('/auth/login', 'Log in; gives the session cookie', { body: loginForm, answer: user }),
    post('/auth/logout', 'Log out'),
    get('/settings/profile', 'Look at your profile', { answer: user }),
    put('/settings/profile', 'Change e-mail or name', { body: profileForm, answer: user }),
    put('/settings/password', 'Change your password', { body: passwordForm, answer: user }),
    get('/settings/sessions', 'List where you are logged in', {
      answer: resource.listOf(session),
    }),
    remove('/settings/sessions', 'End all other sessions'),
    remove('/settings/sessions/:id', 'End a session'),
    get('/settings/tokens', 'List your API tokens', { answer: resource.listOf(token) }),
    post('/settings/tokens', 'Make an API token; it is shown this once', {
      body: tokenForm,
      answer: token.extend({ token: z.string() }),
      created: true,
    }),
    remove('/settings/tokens/:id', 'Revoke an API token'),
    list('/settings/users', 'List the users, for admins', admin.governedUser, pageQuery),
    put('/settings/users/:id', 'Disable, enable or promote a user, for admins', {
      body: userUpdateForm,
      answer: admin.governedUser,
    }),
    remove('/settings/users/:id', 'Delete a user, for admins; what they have is given or deleted', {
      query: userRemovalForm,
      answer: admin.userRemoval,
    }),
    get('/settings/activity', 'List what is at work over all users, for admins', {
      answer: resource.listOf(admin.activity),
    }),
    post('/settings/activity/deployments/:id/cancel', 'Cancel anyone’s deployment, for admins', {
      answer: resource.listOf(admin.activity),
    }),
    post('/settings/activity/services/:id/cancel', 'Cancel a change of a service, for admins', {
      answer: resource.listOf(admin.activity),
    }),
    post('/settings/activity/clean-up/cancel', 'Cancel the clean-up at work, for admins', {
      answer: resource.listOf(admin.activity),
    }),
    get('/settings/grants', 'List services with power over the host, for admins', {
      answer: resource.listOf(admin.grant),
    }),
    put('/settings/grants/:id', 'Revoke what a service may do to the host, or allow it again', {
      body: grantForm,
      answer: resource.listOf(admin.grant),
    }),
    list('/settings/audit', 'List who did what, for admins', resource.auditEvent, pageQuery),
  ]
}
