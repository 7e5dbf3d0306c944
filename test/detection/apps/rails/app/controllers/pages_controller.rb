class PagesController < ActionController::Base
  def show
    render plain: 'Hello, world'
  end
end
