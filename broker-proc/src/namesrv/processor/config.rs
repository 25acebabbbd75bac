//! Requests about the settings.

use std::sync::PoisonError;

use tracing::info;

use super::{NamesrvProcessor, success};
use crate::namesrv::settings::UpdateError;
use crate::remoting::{RemotingCommand, response_code};

impl NamesrvProcessor {
    pub(super) fn get_config(&self, request: &RemotingCommand) -> RemotingCommand {
        success(request).with_body(self.settings().to_properties())
    }

    /// Changes harmless settings until the next restart; everything else is refused.
    pub(super) fn update_config(&self, request: &RemotingCommand) -> RemotingCommand {
        let body = request.body.to_bytes();
        let text = String::from_utf8_lossy(&body);
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        match settings.updated(&text) {
            Ok(updated) => {
                info!(?updated, "settings changed");
                *settings = updated;
                success(request)
            }
            Err(error) => {
                let code = match error {
                    UpdateError::BlackListed | UpdateError::Fixed(_) => response_code::NO_PERMISSION,
                    UpdateError::NotAProperty(_) | UpdateError::Value { .. } => response_code::SYSTEM_ERROR,
                };
                RemotingCommand::response_to(request, code).with_remark(error.to_string())
            }
        }
    }
}
