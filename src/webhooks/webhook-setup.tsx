import type { Child } from 'hono/jsx'
import { TextField } from '../web/fields-view.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { Question } from '../web/form.tsx'
import { titles } from '../git/providers/registry.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import type { Project } from '../projects/store.ts'

export type Receiver = { provider: ProviderName; url: string }

type WebhookSetupProps = {
  project: Pick<Project, 'id' | 'webhookId' | 'webhookSecretShown'>
  receivers: Receiver[]
  /** Only set in the response that may show it. */
  secret?: string | null
}

/** Shows the values to enter at the provider: the address, and the secret if it may be shown. */
export const WebhookSetup = ({ project, receivers, secret = null }: WebhookSetupProps) => (
  <section id="webhook-setup" class="settings-section" aria-labelledby="setup-heading">
    <div>
      <h2 id="setup-heading">Webhook</h2>
      <p class="muted">
        Add it to the repository at your provider, for pushes (on GitLab also for tag pushes, where
        an environment follows a tag), sent as JSON, with the secret of this project.
      </p>
    </div>
    <div class="form">
      {receivers.map(({ provider, url }) => (
        <TextField
          name="address"
          id={`address-${provider}`}
          label={`Address for ${titles[provider]}`}
          value={url}
          readonly
          code
        />
      ))}
      {secret ? (
        <TextField
          name="secret"
          label="Secret"
          value={secret}
          hint="Copy it now. It isn’t shown again."
          readonly
          code
        />
      ) : (
        <p class="muted">
          {project.webhookSecretShown
            ? 'The secret was shown. If it is lost, create a new one.'
            : 'The secret can be shown once, to copy it to the provider.'}
        </p>
      )}
      <div class="form-actions start">
        {!secret && !project.webhookSecretShown && (
          <SecretForm path={`/projects/${project.id}/webhook-secret/show`}>
            <Button>Show secret</Button>
          </SecretForm>
        )}
        <SecretForm
          path={`/projects/${project.id}/webhook-secret`}
          question={{
            text: project.webhookId
              ? 'Create a new secret? Davit updates the webhook at the provider.'
              : 'Create a new secret? Deliveries are refused until you update the webhook at the provider.',
            answer: 'Create secret',
          }}
        >
          <Button variant="outline">Create a new secret</Button>
        </SecretForm>
      </div>
    </div>
  </section>
)

type SecretFormProps = { path: string; question?: Question; children: Child }

/** The response replaces the section. */
const SecretForm = ({ path, question, children }: SecretFormProps) => (
  <PostForm action={path} question={question} replaces="#webhook-setup">
    {children}
  </PostForm>
)
