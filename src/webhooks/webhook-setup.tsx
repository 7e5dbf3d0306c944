import { DocLink } from '../web/components.tsx'
import { TextField } from '../web/fields-view.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { titles } from '../git/providers/registry.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import type { Project } from '../projects/store.ts'

export type Receiver = { provider: ProviderName; url: string }

type WebhookSetupProps = {
  project: Pick<Project, 'id' | 'image' | 'webhookId' | 'webhookSecretShown'>
  receivers: Receiver[]
  /** Only set in the response that may show it; the address with it for a project that deploys an image. */
  secret?: string | null
}

/** Shows the values to enter at the provider: the address, and the secret if it may be shown. */
export const WebhookSetup = ({ project, receivers, secret = null }: WebhookSetupProps) => {
  const { name, about, update } = project.image === null ? ofProviders : ofRegistries
  return (
    <section id="webhook-setup" class="settings-section" aria-labelledby="setup-heading">
      <div>
        <h2 id="setup-heading">Webhook</h2>
        <p class="muted">{about}</p>
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
            label={name === 'secret' ? 'Secret' : 'Address'}
            value={secret}
            hint="Copy it now. It isn’t shown again."
            readonly
            code
          />
        ) : (
          <p class="muted">
            {project.webhookSecretShown
              ? `The ${name} was shown. If it is lost, create a new one.`
              : `The ${name} can be shown once, to copy it.`}
          </p>
        )}
        <div class="form-actions start">
          {!secret && !project.webhookSecretShown && (
            <PostForm
              action={`/projects/${project.id}/webhook-secret/show`}
              replaces="#webhook-setup"
            >
              <Button>{`Show ${name}`}</Button>
            </PostForm>
          )}
          <PostForm
            action={`/projects/${project.id}/webhook-secret`}
            replaces="#webhook-setup"
            question={{
              text: project.webhookId
                ? 'Create a new secret? Davit updates the webhook at the provider.'
                : `Create a new ${name}? ${update}`,
              answer: `Create ${name}`,
            }}
          >
            <Button variant="outline">{`Create a new ${name}`}</Button>
          </PostForm>
        </div>
      </div>
    </section>
  )
}

const ofProviders = {
  name: 'secret',
  about:
    'Add it to the repository at your provider: for pushes, sent as JSON, with the secret of this project. Choose more events if you need them: pull or merge requests for previews, pipelines, check suites or statuses for environments that wait for checks, and on GitLab tag pushes for those that follow a tag.',
  update: 'Deliveries are refused until you update the webhook at the provider.',
}

const ofRegistries = {
  name: 'address',
  about: (
    <>
      Add this address to the webhooks of the image at its registry, for pushes. Whoever knows the
      address can have the registry asked for a new image, and nothing else.{' '}
      <DocLink doc="images#webhooks">Steps for each registry</DocLink>
    </>
  ),
  update: 'The old one stops working: enter the new one at the registry.',
}
