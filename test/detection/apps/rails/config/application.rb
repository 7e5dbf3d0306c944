require_relative 'boot'
require 'rails'
require 'active_record/railtie'
require 'action_controller/railtie'

Bundler.require(*Rails.groups)

module Pages
  class Application < Rails::Application
    config.load_defaults 7.2
    config.eager_load = true
    config.secret_key_base = ENV.fetch('SECRET_KEY_BASE', 'only-for-a-test')
  end
end
