defmodule Pages.MixProject do
  use Mix.Project

  def project do
    [app: :pages, version: "1.0.0", elixir: "~> 1.18", deps: []]
  end

  def application do
    [mod: {Pages, []}, extra_applications: [:logger]]
  end
end
